package import FoundationEssentials

/// Reads JSON strictly (RFC 8259), and says where a mistake is.
///
/// `JSONDecoder` gives neither line nor column, and silently drops a key that is there twice: a manager would vanish.
package struct JSONReader: DocumentTextReader {
    private var grammar: JSONGrammar<JSONTree>

    var bytes: [UInt8] { grammar.bytes }

    init(_ data: Data, as subject: DocumentSubject) { self.init(data, as: subject, wanted: []) }

    private init(_ data: Data, as subject: DocumentSubject, wanted: Set<String>) {
        grammar = JSONGrammar(Array(data.withoutByteOrderMark), JSONTree(of: subject, wanted: wanted))
    }

    mutating func document() throws(DocumentMistake) -> JSONValue {
        try grammar.document()
        return grammar.receiver.root
    }

    /// Where the values at some paths are, a member of a dictionary at its key; of one that is missing, where the nearest
    /// that contains its place is.
    package static func positions(of paths: [String], in data: Data) -> [String: SourcePosition] {
        guard let (tree, bytes) = tree(of: data, wanted: paths) else { return [:] }
        let positions = SourcePosition.positions(of: Array(tree.offsets.values), in: bytes)
        return paths.reduce(into: [:]) { found, path in
            found[path] = path.pointerAndAncestors.lazy.compactMap { tree.offsets[$0] }.first.flatMap { positions[$0] }
        }
    }

    /// From where to where the values at some paths go, a member of a dictionary from its key on; without a byte order mark.
    package static func extents(of paths: [String], in data: Data) -> [String: Range<Int>] {
        guard let (tree, _) = tree(of: data, wanted: paths) else { return [:] }
        return paths.reduce(into: [:]) { extents, path in
            if let start = tree.offsets[path], let end = tree.ends[path] { extents[path] = start..<end }
        }
    }

    private static func tree(of data: Data, wanted paths: [String]) -> (JSONTree, bytes: [UInt8])? {
        var reader = Self(data, as: .document, wanted: Set(paths.flatMap(\.pointerAndAncestors)))
        return (try? reader.document()).map { _ in (reader.grammar.receiver, reader.bytes) }
    }
}

extension String {
    /// A pointer, then what it is in, up to the root.
    fileprivate var pointerAndAncestors: [String] {
        var pointers = [self]
        while let slash = pointers[pointers.count - 1].unicodeScalars.lastIndex(of: "/") {
            pointers.append(String(pointers[pointers.count - 1][..<slash]))
        }
        return pointers
    }
}
