import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The form in which a response becomes the output of a contract's method.
enum ContractOutput: Sendable {
    /// The body unchanged, which is JSON already; `null` for an empty one.
    case json
    /// The body as JSON, or plain text as a JSON string, because the expected type is unknown.
    case any
    /// `null`, regardless of the body.
    case nothing
    /// The body as a JSON string, unless it is JSON already.
    case text
    /// The body in base64.
    case data
    /// A `StoredFile` with the body.
    case file
    /// The JSON that a serializer creates from the body.
    case mapped(String)

    init(_ method: DefinedMethod, _ shape: ContractShape) {
        let serializer = method.serializer == DefinitionNames.json ? nil : method.serializer
        self =
            switch (shape.output, serializer) {
            case (.nothing, _): .nothing
            case (.file, _): .file
            case (.unknown, _) where method.sessionType == .download: .file
            case (_, let serializer?): .mapped(serializer)
            case (.text, nil): .text
            case (.data, nil): .data
            case (.unknown, nil): .any
            default: .json
            }
    }

    /// Returns the output for a response whose status is valid, unless it is written to a file or mapped.
    ///
    /// - Throws: ``NotJSON`` for a body that cannot be JSON.
    func output(of response: HTTPResponse) throws -> [UInt8] {
        switch self {
        case .nothing: return Self.null
        case .data: return Data(response.body).base64EncodedString().json
        case .text where !response.hasType("json"): return String(decoding: response.body, as: UTF8.self).json
        case .any where response.hasType("text/plain"): return String(decoding: response.body, as: UTF8.self).json
        case .json, .any, .text, .file, .mapped:
            let body = response.body
            if body.isEmpty { return Self.null }
            guard body.beginsLikeJSON else { throw NotJSON() }
            return body
        }
    }

    private static var null: [UInt8] { Array("null".utf8) }

    /// The error for a body that is not JSON.
    struct NotJSON: ComponentError {
        var code: String { "definition.not-json" }
        var message: String { "expected JSON, or a `serializer` in the definition" }
    }
}

extension HTTPResponse {
    /// Returns whether the media type contains a string.
    fileprivate func hasType(_ text: String) -> Bool { headers["Content-Type"]?.lowercased().contains(text) ?? false }
}

extension [UInt8] {
    /// A Boolean value that indicates whether the first character could begin a JSON text.
    ///
    /// The rest is checked when the consumer decodes the text.
    fileprivate var beginsLikeJSON: Bool {
        guard let first = first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return false }
        return #"{["-tfn"#.utf8.contains(first) || first.isDecimalDigit
    }
}
