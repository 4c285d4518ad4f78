internal import FoundationEssentials

/// A reader of a text format, which knows the position of a mistake.
protocol DocumentTextReader {
    associatedtype Value
    typealias Mistake = DocumentMistake

    var bytes: [UInt8] { get }
    init(_ data: Data, as subject: DocumentSubject)
    mutating func document() throws(DocumentMistake) -> Value
}

/// A mistake in a text, and its byte offset.
struct DocumentMistake: Error {
    var offset: Int
    var reason: String
    var kind = DocumentError.Kind.malformed
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
