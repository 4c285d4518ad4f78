/// A place in a manifest as a JSON pointer (RFC 6901); the empty one is the root.
struct ManifestPath: Sendable, Hashable, CustomStringConvertible {
    private(set) var description = ""

    static func / (path: ManifestPath, key: String) -> ManifestPath {
        ManifestPath(description: path.description + "/" + key.pointerStep)
    }

    static func / (path: ManifestPath, index: Int) -> ManifestPath {
        ManifestPath(description: path.description + "/\(index)")
    }
}

extension String {
    /// The first step of a pointer without its slash.
    var firstStep: String {
        guard let slash = utf8.firstIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[..<slash])
    }

    /// The key as a step of a pointer.
    package var pointerStep: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return self }
        // By scalars: with a combining mark behind it a slash is another character, and a slash all the same.
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
