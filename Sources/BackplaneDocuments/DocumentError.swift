/// The mistake in a document, or in a value that is to become one, and its place.
public struct DocumentError: Error, Sendable {
    public enum Kind: Sendable {
        /// It is not what its format is.
        case malformed
        /// It is, but beyond a limit, or the format cannot hold it.
        case unsupported
    }

    public let kind: Kind
    /// The mistake, without its place.
    public let reason: String
    /// The position in the text that was read; `nil`: it was not text, or was not looked at.
    public let position: SourcePosition?
    /// The value that cannot be written, as a JSON pointer; `nil`: it is about reading.
    public let location: String?

    init(_ kind: Kind, _ reason: String, at position: SourcePosition? = nil) {
        (self.kind, self.reason, self.position, location) = (kind, reason, position, nil)
    }

    /// Of a value that a format cannot hold.
    init(unwritable reason: String, at path: DocumentPath) {
        (kind, self.reason, position, location) = (.unsupported, reason, nil, path.description)
    }

    static func tooLarge(_ subject: DocumentSubject) -> DocumentError {
        DocumentError(.unsupported, DocumentLimits.tooLarge(subject))
    }
}

extension DocumentError: CustomStringConvertible {
    /// The place in the text and the reason: "line 3, column 5: expected a value, found `}`".
    public var description: String { position.map { "\($0): \(reason)" } ?? reason }
}
