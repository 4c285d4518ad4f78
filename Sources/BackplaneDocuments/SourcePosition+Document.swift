package import FoundationEssentials

extension SourcePosition {
    /// Returns the positions of a document's values, keyed by path; the position of a dictionary member is that of its
    /// key.
    ///
    /// The position of a missing value is that of the nearest value that would contain it. A binary property list has
    /// no positions.
    package static func positions(of paths: [String], in data: Data) -> [String: SourcePosition] {
        guard !paths.isEmpty else { return [:] }
        return switch DocumentFormat(of: data) {
        case .json: JSONReader.positions(of: paths, in: data)
        case .xml: PropertyListReader.positions(of: paths, in: data)
        case .binary: [:]
        }
    }

    /// Returns the positions of paths, or of the values nearest to them, from the offsets of values.
    static func positions(of paths: [String], by offsets: [String: Int], in bytes: [UInt8]) -> [String: SourcePosition]
    {
        let positions = positions(of: Array(offsets.values), in: bytes)
        return paths.reduce(into: [:]) { found, path in
            found[path] = path.pointerAndAncestors.lazy.compactMap { offsets[$0] }.first.flatMap { positions[$0] }
        }
    }
}

extension String {
    /// The pointer, followed by its ancestors up to the root.
    var pointerAndAncestors: [String] {
        var pointers = [self]
        while let slash = pointers[pointers.count - 1].unicodeScalars.lastIndex(of: "/") {
            pointers.append(String(pointers[pointers.count - 1][..<slash]))
        }
        return pointers
    }
}
