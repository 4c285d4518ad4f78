import FoundationEssentials

/// An error in a document, or in a value to be written as a document, with its position.
public struct DocumentError: Error, Sendable, CustomStringConvertible {
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
    /// The position in a JSON text; `nil` for other formats, and for a text that has not been examined.
    public let position: SourcePosition?
    /// The value that has the problem, as a JSON pointer; `nil` for the whole document, or if there is a position.
    public let location: String?

    init(_ kind: Kind, _ reason: String, at position: SourcePosition? = nil, location: DocumentPath? = nil) {
        (self.kind, self.reason, self.position) = (kind, reason, position)
        self.location = location == DocumentPath() ? nil : location?.description
    }

    /// The position in the text and the reason: "line 3, column 5: expected a value, found `}`".
    public var description: String { position.map { "\($0): \(reason)" } ?? reason }
}

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

    var tooLarge: DocumentError {
        DocumentError(.unsupported, "the \(noun) is larger than \(DocumentLimits.bytes >> 20) MB")
    }

    /// Requires that the bytes of a document are within the size limit, and not in UTF-16.
    func require(_ bytes: Data) throws(DocumentError) {
        guard bytes.count <= DocumentLimits.bytes else { throw tooLarge }
        // Every document begins with an ASCII character. In UTF-16, one of that character's bytes is zero.
        let start = Array(bytes.prefix(2))
        guard start == [0xFE, 0xFF] || start == [0xFF, 0xFE] || start.count == 2 && start.contains(0) else { return }
        throw DocumentError(
            .unsupported, "expected the encoding UTF-8, found UTF-16; save the file as UTF-8",
            at: SourcePosition(line: 1, column: 1))
    }
    var tooManyValues: String { "the \(noun) has more than \(DocumentLimits.values) values" }
}

/// The maximum size of a document, so that a damaged or hostile document cannot exhaust the machine.
public enum DocumentLimits {
    /// The maximum size in bytes: 16 MiB.
    public static let bytes = 16 << 20
    /// The maximum depth of nested dictionaries and arrays.
    ///
    /// Writers and readers recurse, on threads with small stacks.
    public static let depth = 64
    /// The maximum number of values.
    ///
    /// A binary property list can reference one value many times and thereby expand endlessly.
    public static let values = 1_000_000
    /// The maximum size of a key in bytes.
    ///
    /// A key is repeated in the paths of all values below it.
    public static let key = 1_024

    static let keyTooLong = "a key of more than \(key) bytes"
    static func tooDeep(_ depth: Int = depth) -> String { "nested deeper than \(depth) levels" }
}

extension String {
    /// Returns the reason why the key cannot stand beside an equal key in a dictionary.
    ///
    /// Two Unicode forms of a text are two keys in JSON (RFC 8259, section 8.3), but one key in a Swift dictionary.
    func clash(with other: String) -> (kind: DocumentError.Kind, reason: String) {
        utf8.elementsEqual(other.utf8)
            ? (.malformed, "the key `\(self)` is repeated")
            : (.unsupported, "the key `\(self)` differs from another one only in its Unicode form; rename one")
    }
}
