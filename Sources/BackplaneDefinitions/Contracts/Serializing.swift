public import Backplane
import BackplaneNetwork
public import FoundationEssentials

/// The contract of a manager that maps responses whose shape does not match a contract.
///
/// The manifest names it under `network.serializers`, by the name that definitions use. It is called for valid
/// responses to their methods, before the consumer decodes the result.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.serialize) { _, response, _ in
///         try JSONEncoder().encode(JSONDecoder().decode([FlatBook].self, from: response.body).map(\.book))
///     }
/// }
/// ```
public struct Serializing: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns the JSON output for a response.
    public let serialize = AsyncMethod<ForeignResponse, Data>()

    /// Creates the contract.
    public init() {}
}

/// A response whose shape does not match a contract, for a serializer.
public struct ForeignResponse: Sendable {
    /// The name of the serializer in the definition.
    public var serializer: String
    /// The name of the contract's method that was called.
    public var method: String
    /// The status code, from 200 to 299.
    public var status: Int
    /// The names and values of the header fields in order.
    public var headers: [[String]]
    /// The body, which crosses the encoded lane in base64.
    public var body: Data

    /// Creates a response, for tests of a serializer.
    public init(
        serializer: String = "", method: String = "", status: Int = 200, headers: [[String]] = [], body: Data
    ) {
        (self.serializer, self.method, self.status) = (serializer, method, status)
        (self.headers, self.body) = (headers, body)
    }

    init(_ response: HTTPResponse, of method: String, for serializer: String) {
        self.init(
            serializer: serializer, method: method, status: response.status,
            headers: response.headers.fields.map { [$0.name, $0.value] }, body: Data(response.body))
    }
}

// By hand, since synthesised keys would be a type of their own in every plugin (``TextKey``).

extension ForeignResponse: Codable {
    private static let (serializerKey, methodKey, statusKey) = (
        TextKey("serializer"), TextKey("method"), TextKey("status")
    )
    private static let (headersKey, bodyKey) = (TextKey("headers"), TextKey("body"))

    /// Decodes a response from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        self.init(
            serializer: try values.decode(String.self, forKey: Self.serializerKey),
            method: try values.decode(String.self, forKey: Self.methodKey),
            status: try values.decode(Int.self, forKey: Self.statusKey),
            headers: try values.decode([[String]].self, forKey: Self.headersKey),
            body: try values.decode(Data.self, forKey: Self.bodyKey))
    }

    /// Encodes a response as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(serializer, forKey: Self.serializerKey)
        try values.encode(method, forKey: Self.methodKey)
        try values.encode(status, forKey: Self.statusKey)
        try values.encode(headers, forKey: Self.headersKey)
        try values.encode(body, forKey: Self.bodyKey)
    }
}
