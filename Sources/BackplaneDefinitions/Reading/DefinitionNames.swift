/// The names that a definition may use for serializers and models.
struct DefinitionNames: Sendable {
    var serializers: [String]
    var models: [String]

    /// The name of the built-in serializer.
    static let json = "NCJSONSerializer"
}
