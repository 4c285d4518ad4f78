public import Backplane
public import BackplaneDocuments
import BackplaneNetwork
public import FoundationEssentials

/// The contract of a web service whose declaration in a manifest names no other contract.
///
/// ```swift
/// let near = try await wires.pharmacies.call(WebCall("searchWithZIPCode", "1011"), call)
/// ```
public struct WebAPI: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Calls a method of the definition, and returns the JSON of the response; `null` for an empty response.
    public let call = AsyncMethod<WebCall, DocumentValue>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The name of a method in a definition, and its arguments.
public struct WebCall: Sendable, Codable {
    /// The name or the selector of the method.
    public var method: String
    /// The arguments, in the order of the definition's indicators.
    public var arguments: [DocumentValue]

    /// Creates a call of a method.
    public init(_ method: String, _ arguments: DocumentValue...) { (self.method, self.arguments) = (method, arguments) }
}

/// The contract of a manager that maps responses whose shape does not match a contract.
///
/// The manifest lists the manager under `network.serializers`, by the name that definitions use. It is called for valid
/// responses to methods with that serializer, before the consumer decodes the result.
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
public struct ForeignResponse: Sendable, Codable {
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
}

extension WebService {
    /// The type of functions that map responses to the JSON of a contract.
    package typealias Serialize =
        nonisolated(nonsending) @Sendable (ForeignResponse, Call) async throws(BackplaneError) -> [UInt8]

    /// Serves a call of a contract's method, with input and output in JSON.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - input: The input as JSON.
    ///   - call: The call being served.
    ///   - serialize: A function that maps a response to the JSON of the contract.
    /// - Returns: The output as JSON.
    /// - Throws: `call.invalid-input`; `definition.arguments`; `file.refused`; the errors of
    ///   `HTTPClient.load(_:_:progress:)`.
    package func answer(
        _ method: ServedMethod, _ input: [UInt8], _ call: Call, serialize: Serialize
    ) async throws(BackplaneError) -> [UInt8] {
        let arguments = try method.arguments(of: value(ofInput: input))
        return try await answer(method.method, as: method.name, arguments, method.output, call, serialize)
    }

    /// Serves a call of ``WebAPI``, whose input names the method.
    ///
    /// - Parameter input: A ``WebCall`` as JSON.
    package func answerByName(
        _ input: [UInt8], _ call: Call, serialize: Serialize
    ) async throws(BackplaneError) -> [UInt8] {
        guard case .dictionary(let members) = try value(ofInput: input), case .string(let name)? = members["method"],
            case .array(let arguments) = members["arguments"] ?? .array([])
        else {
            throw BackplaneError(
                .callInvalidInput, "expected the name of a method in `method`, and an array in `arguments`")
        }
        let method = try definition.method(name, arguments: arguments.count)
        return try await answer(method, as: name, arguments, ContractOutput(method, .unknown), call, serialize)
    }

    private func value(ofInput input: [UInt8]) throws(BackplaneError) -> DocumentValue {
        do { return try DocumentValue(json: Data(input)) } catch {
            throw BackplaneError(.callInvalidInput, "the input is not JSON: \(error)")
        }
    }

    private func answer(
        _ method: DefinedMethod, as name: String, _ arguments: [DocumentValue], _ output: ContractOutput, _ call: Call,
        _ serialize: Serialize
    ) async throws(BackplaneError) -> [UInt8] {
        let prepared = try PreparedCall(method, arguments.map { Argument($0) }, of: self)
        switch output {
        case .file:
            // Unique, because other downloads of the method may be under way, or not yet adopted.
            let path = "download-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            let file = try await prepared.client.load(prepared.endpoint(to: path), call)
            return Array(DocumentValue.dictionary(["path": .string(file.path), "size": .integer(file.size)]).json)
        case .mapped(let serializer):
            let response = try await prepared.client.load(prepared.endpoint { $0 }, call)
            let foreign = ForeignResponse(
                serializer: serializer, method: name, status: response.status,
                headers: response.headers.fields.map { [$0.name, $0.value] }, body: Data(response.body))
            return try await serialize(foreign, call)
        case .json, .any, .nothing, .text, .data:
            return try await prepared.client.load(prepared.endpoint { try output.output(of: $0) }, call)
        }
    }
}
