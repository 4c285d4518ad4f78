public import Backplane
public import BackplaneDocuments

/// The contract of a web service that is declared in a manifest without naming another one.
///
/// ```swift
/// let near = try await wires.pharmacies.call(WebCall("searchWithZIPCode", "1011"), call)
/// ```
public struct WebAPI: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Calls a method of the definition, and returns the JSON of the response; `null` for an empty one.
    public let call = AsyncMethod<WebCall, DocumentValue>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The name of a method in a definition, and its arguments.
public struct WebCall: Sendable {
    /// The name or the selector of the method.
    public var method: String
    /// The arguments, in the order of the definition's indicators.
    public var arguments: [DocumentValue]

    /// Creates a call of a method.
    public init(_ method: String, _ arguments: DocumentValue...) { (self.method, self.arguments) = (method, arguments) }
}

extension WebCall: Codable {
    private static let (methodKey, argumentsKey) = (TextKey("method"), TextKey("arguments"))

    /// Decodes a call from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        method = try values.decode(String.self, forKey: Self.methodKey)
        arguments = try values.decodeIfPresent([DocumentValue].self, forKey: Self.argumentsKey) ?? []
    }

    /// Encodes a call as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(method, forKey: Self.methodKey)
        try values.encode(arguments, forKey: Self.argumentsKey)
    }
}
