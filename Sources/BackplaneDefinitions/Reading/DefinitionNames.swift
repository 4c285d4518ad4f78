/// The names that a definition may use for serializers and models.
struct DefinitionNames: Sendable {
    var serializers: [String]
    var models: [String]

    /// The name of the serializer that is built in.
    static let json = "NCJSONSerializer"
}
