/// An error in a document, or in a value that is to be written as one, with its position.
public struct DocumentError: Error, Sendable {
    /// The distinction between errors of the format and of its limits.
    public enum Kind: Sendable {
        /// The document violates its format.
        case malformed
        /// The document exceeds a limit, or the format cannot represent the value.
        case unsupported
    }

    /// The distinction between a malformed document and one that is not supported.
    public let kind: Kind
    /// The problem, without its position.
    public let reason: String
    /// The position in the text that was read; `nil` if the document is not text or has not been examined.
    public let position: SourcePosition?
    /// The value that cannot be written, as a JSON pointer; `nil` for a reading error.
    public let location: String?

    init(_ kind: Kind, _ reason: String, at position: SourcePosition? = nil) {
        (self.kind, self.reason, self.position, location) = (kind, reason, position, nil)
    }

    /// Creates the error for a value that a format cannot represent.
    init(unwritable reason: String, at path: DocumentPath) {
        (kind, self.reason, position, location) = (.unsupported, reason, nil, path.description)
    }

    static func tooLarge(_ subject: DocumentSubject) -> DocumentError {
        DocumentError(.unsupported, DocumentLimits.tooLarge(subject))
    }
}

extension DocumentError: CustomStringConvertible {
    /// The position in the text and the reason: "line 3, column 5: expected a value, found `}`".
    public var description: String { position.map { "\($0): \(reason)" } ?? reason }
}
