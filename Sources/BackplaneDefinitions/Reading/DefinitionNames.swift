/// The names that a definition may use for serializers and models.
struct DefinitionNames: Sendable {
    var serializers: [String]
    /// The models; `nil` if their names are not checked, because a contract determines the types.
    var models: [String]?

    /// The name of the built-in serializer.
    static let json = "NCJSONSerializer"

    init(serializers: some Sequence<String>, models: [String]?) {
        self.serializers = Set(serializers).union([Self.json]).sorted()
        self.models = models
    }
}
