/// The name of a document in messages about it.
public struct DocumentSubject: Sendable {
    /// A noun: "manifest".
    public var noun: String
    /// What is at its root, for one with nothing in it: "a manifest is a dictionary".
    public var root: String?

    public init(_ noun: String, root: String? = nil) {
        (self.noun, self.root) = (noun, root)
    }

    /// A document of no particular kind.
    public static var document: DocumentSubject { DocumentSubject("document") }

    /// What is said of one with nothing in it.
    var emptiness: String { "there is nothing here" + (root.map { "; \($0)" } ?? "") }
}
