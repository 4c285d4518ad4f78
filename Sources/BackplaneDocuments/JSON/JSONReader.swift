package import FoundationEssentials

/// A strict reader of JSON (RFC 8259) that reports the position of a mistake.
///
/// `JSONDecoder` reports neither line nor column, and silently drops duplicate keys, so that a manager could disappear.
package struct JSONReader<Value: JSONTreeValue>: DocumentTextReader {
    private var grammar: JSONGrammar<JSONTree<Value>>

    var bytes: [UInt8] { grammar.bytes }

    init(_ data: Data, as subject: DocumentSubject) { self.init(data, as: subject, wanted: []) }

    private init(_ data: Data, as subject: DocumentSubject, wanted: Set<String>) {
        grammar = JSONGrammar(Array(data.withoutByteOrderMark), JSONTree(of: subject, wanted: wanted))
    }

    mutating func document() throws(DocumentMistake) -> Value {
        try grammar.document()
        return grammar.receiver.root
    }
}

extension JSONReader where Value == JSONValue {
    /// Returns the positions of the values at the given paths; the position of a dictionary member is that of its key.
    ///
    /// The position of a missing value is that of the nearest value that would contain it.
    package static func positions(of paths: [String], in data: Data) -> [String: SourcePosition] {
        guard let (tree, bytes) = tree(of: data, wanted: paths) else { return [:] }
        return SourcePosition.positions(of: paths, by: tree.offsets, in: bytes)
    }

    /// Returns the byte ranges of the values at the given paths; the ranges of dictionary members include their keys.
    ///
    /// Offsets do not count a byte order mark.
    package static func extents(of paths: [String], in data: Data) -> [String: Range<Int>] {
        guard let (tree, _) = tree(of: data, wanted: paths) else { return [:] }
        return paths.reduce(into: [:]) { extents, path in
            if let start = tree.offsets[path], let end = tree.ends[path] { extents[path] = start..<end }
        }
    }

    private static func tree(of data: Data, wanted paths: [String]) -> (JSONTree<JSONValue>, bytes: [UInt8])? {
        var reader = Self(data, as: .document, wanted: Set(paths.flatMap(\.pointerAndAncestors)))
        return (try? reader.document()).map { _ in (reader.grammar.receiver, reader.bytes) }
    }
}
