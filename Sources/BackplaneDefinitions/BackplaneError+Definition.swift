public import Backplane

extension BackplaneError.Code {
    /// The file of a definition cannot be found or read.
    public static let definitionUnreadable = Self(rawValue: "definition.unreadable")
    /// A definition is not well-formed, or not a dictionary of methods.
    public static let definitionMalformed = Self(rawValue: "definition.malformed")
    /// A value in a definition has the wrong type.
    public static let definitionWrongType = Self(rawValue: "definition.wrong-type")
    /// A required key is missing.
    public static let definitionMissingKey = Self(rawValue: "definition.missing-key")
    /// A definition has a key that is not defined at its location.
    public static let definitionUnknownKey = Self(rawValue: "definition.unknown-key")
    /// A value has the right type, but cannot occur in a request.
    public static let definitionInvalidValue = Self(rawValue: "definition.invalid-value")
    /// An indicator is malformed, or refers to no argument.
    public static let definitionIndicator = Self(rawValue: "definition.indicator")
    /// A value has no effect at its location.
    public static let definitionIgnored = Self(rawValue: "definition.ignored")
    /// No serializer or model of that name is registered.
    public static let definitionUnknownName = Self(rawValue: "definition.unknown-name")
    /// The web service defines no method of that name, or more than one.
    public static let definitionUnknownMethod = Self(rawValue: "definition.unknown-method")
    /// The number of arguments is wrong, or an argument does not fit its position.
    public static let definitionArguments = Self(rawValue: "definition.arguments")
    /// The requested response type differs from the model that the definition names.
    public static let definitionWrongModel = Self(rawValue: "definition.wrong-model")
}
