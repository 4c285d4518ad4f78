internal import FoundationEssentials

/// A reader of a text format that knows the position of a mistake.
protocol DocumentTextReader {
    associatedtype Value
    typealias Mistake = DocumentMistake

    var bytes: [UInt8] { get }
    init(_ data: Data, as subject: DocumentSubject)
    mutating func document() throws(DocumentMistake) -> Value
}

/// A mistake in a text, and its byte offset.
package struct DocumentMistake: Error {
    var offset: Int
    package var reason: String
    var kind = DocumentError.Kind.malformed

    init(offset: Int, reason: String, kind: DocumentError.Kind) {
        (self.offset, self.reason, self.kind) = (offset, reason, kind)
    }

    /// Creates the mistake of a text that is malformed at an offset.
    package init(offset: Int, reason: String) { (self.offset, self.reason) = (offset, reason) }
}

extension DocumentTextReader {
    static func read(_ data: Data, as subject: DocumentSubject) throws(DocumentError) -> Value {
        var reader = Self(data, as: subject)
        do {
            return try reader.document()
        } catch {
            throw DocumentError(
                error.kind, error.reason,
                at: SourcePosition.positions(of: [error.offset], in: reader.bytes)[error.offset])
        }
    }
}
