package import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

extension WebService {
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
        try await answer(
            method.method, as: method.name, method.arguments(of: DocumentValue(input: input)), method.output, call,
            serialize)
    }

    /// The type of functions that map responses to the JSON of a contract.
    package typealias Serialize =
        nonisolated(nonsending) @Sendable (ForeignResponse, Call) async throws(BackplaneError) -> [UInt8]

    /// Serves a call of ``WebAPI``, whose input names the method.
    ///
    /// - Parameter input: A ``WebCall`` as JSON.
    package func answerByName(
        _ input: [UInt8], _ call: Call, serialize: Serialize
    ) async throws(BackplaneError) -> [UInt8] {
        guard case .dictionary(let members) = try DocumentValue(input: input),
            case .string(let name)? = members["method"],
            case .array(let arguments) = members["arguments"] ?? .array([])
        else {
            throw BackplaneError(
                .callInvalidInput, "expected the name of a method in `method`, and an array in `arguments`")
        }
        let method = try definition.method(name, arguments: arguments.count)
        let output = ContractOutput(method, ContractShape())
        return try await answer(
            method, as: method.name, arguments.map { ArgumentValue($0) }, output, call, serialize)
    }

    private func answer(
        _ method: DefinedMethod, as name: String, _ arguments: [ArgumentValue], _ output: ContractOutput, _ call: Call,
        _ serialize: Serialize
    ) async throws(BackplaneError) -> [UInt8] {
        let prepared = try WebServiceMethod.Prepared(method, arguments, of: self)
        switch output {
        case .file:
            // Unique, because other downloads of the method may be under way, or not yet adopted.
            let path = "download-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            let file = try await prepared.client.load(prepared.endpoint(to: path), call)
            return StoredFile(path: file.path, size: file.size).json
        case .mapped(let serializer):
            let response = try await prepared.client.load(prepared.endpoint { $0 }, call)
            return try await serialize(ForeignResponse(response, of: name, for: serializer), call)
        case .json, .any, .nothing, .text, .data:
            return try await prepared.client.load(prepared.endpoint { try output.output(of: $0) }, call)
        }
    }
}

extension DocumentValue {
    /// Parses the input of a call.
    fileprivate init(input: [UInt8]) throws(BackplaneError) {
        do { try self.init(json: Data(input)) } catch {
            throw BackplaneError(.callInvalidInput, "the input is not JSON: \(error)")
        }
    }
}

extension StoredFile {
    fileprivate var json: [UInt8] {
        Array(DocumentValue.dictionary(["path": .string(path), "size": .integer(size)]).json)
    }
}
