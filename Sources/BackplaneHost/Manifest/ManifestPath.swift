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
    /// The key as a step of a pointer.
    var pointerStep: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return self }
        return reduce(into: "") { text, character in
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
    }
}
