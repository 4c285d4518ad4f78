/// A location in a document as a JSON pointer (RFC 6901).
///
/// The empty pointer is the root.
package struct DocumentPath: Sendable, Hashable, CustomStringConvertible {
    package private(set) var description = ""

    package init() {}

    package static func / (path: DocumentPath, key: String) -> DocumentPath {
        var path = path
        path.description += "/" + key.pointerStep
        return path
    }

    package static func / (path: DocumentPath, index: Int) -> DocumentPath { path / "\(index)" }

    /// Returns whether the path equals another one or lies below it.
    package func isWithin(_ other: DocumentPath) -> Bool {
        self == other || description.utf8.starts(with: (other.description + "/").utf8)
    }
}

extension String {
    /// The first step of a pointer without its slash.
    package var firstStep: String {
        guard let slash = utf8.firstIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[..<slash])
    }

    /// The key as a step of a pointer.
    package var pointerStep: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return self }
        return replacing(["~": "~0", "/": "~1"])
    }

    /// Returns the text with some of its scalars replaced.
    ///
    /// Scalars are compared, because a slash followed by a combining mark is a different `Character`.
    func replacing(_ replacements: [Unicode.Scalar: String]) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if let replacement = replacements[scalar] {
                text += replacement
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The pointer, followed by its ancestors up to the root.
    var pointerAndAncestors: [String] {
        var pointers = [self]
        while let slash = pointers[pointers.count - 1].unicodeScalars.lastIndex(of: "/") {
            pointers.append(String(pointers[pointers.count - 1][..<slash]))
        }
        return pointers
    }
}

/// A position in a text file: line and column, both counted from 1, the column in Unicode scalars.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    /// The line and the column, counted from 1.
    public var line, column: Int

    /// Creates a position from numbers that are counted from 1.
    public init(line: Int, column: Int) {
        (self.line, self.column) = (line, column)
    }

    /// Returns the positions of offsets in UTF-8 text, determined in one pass.
    static func positions(of offsets: [Int], in bytes: [UInt8]) -> [Int: SourcePosition] {
        var positions: [Int: SourcePosition] = [:]
        var (next, position) = (0, SourcePosition(line: 1, column: 1))
        for offset in offsets.sorted() {
            while next < min(offset, bytes.count) {
                if bytes[next] == UInt8(ascii: "\n") {
                    position = SourcePosition(line: position.line + 1, column: 1)
                } else if bytes[next] & 0xC0 != 0x80 {
                    position.column += 1
                }
                next += 1
            }
            positions[offset] = position
        }
        return positions
    }

    /// The position as text: `line 3, column 5`.
    public var description: String { "line \(line), column \(column)" }
}
