/// A location in a document as a JSON pointer (RFC 6901).
///
/// The empty pointer is the root.
package struct DocumentPath: Sendable, Hashable, CustomStringConvertible {
    package private(set) var description: String

    package init() { description = "" }

    private init(description: String) { self.description = description }

    package static func / (path: DocumentPath, key: String) -> DocumentPath {
        let step = key.pointerStep
        var description = ""
        description.reserveCapacity(path.description.utf8.count + 1 + step.utf8.count)
        description += path.description
        description += "/"
        description += step
        return DocumentPath(description: description)
    }

    package static func / (path: DocumentPath, index: Int) -> DocumentPath {
        DocumentPath(description: path.description + "/\(index)")
    }

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
        // By scalars: a slash followed by a combining mark is a different character, but still a slash in the pointer.
        var step = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "~": step.append(contentsOf: "~0".unicodeScalars)
            case "/": step.append(contentsOf: "~1".unicodeScalars)
            default: step.append(scalar)
            }
        }
        return String(step)
    }
}
