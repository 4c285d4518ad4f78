/// The name of a document in error messages.
public struct DocumentSubject: Sendable {
    /// A noun, such as "manifest".
    public var noun: String
    /// A sentence about the expected root, for an empty document: "a manifest is a dictionary".
    public var root: String?

    /// Creates the subject used in error messages about a document.
    public init(_ noun: String, root: String? = nil) {
        (self.noun, self.root) = (noun, root)
    }

    /// A document of no particular kind.
    public static var document: DocumentSubject { DocumentSubject("document") }

    /// The message for an empty document.
    var emptiness: String { "the \(noun) is empty" + (root.map { "; \($0)" } ?? "") }
}
