/// The positional arguments of `backplane call`: `[MANIFEST] MANAGER METHOD [JSON]`.
struct CallWords: Sendable, Hashable {
    /// The path of the manifest, or `nil` for the one in the current folder.
    var manifest: String?
    var manager: String
    var method: String
    var input: String

    /// An error about a missing or superfluous argument.
    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    init(_ words: [String]) throws(Misuse) {
        let (manifest, rest) = ManifestChoice.split(words)
        var names = rest
        guard let manager = names.popFirst() else { throw Misuse(description: "MANAGER is missing") }
        guard let method = names.popFirst() else { throw Misuse(description: "METHOD is missing") }
        let input = names.popFirst() ?? "null"
        if let first = names.first { throw Misuse(description: "unexpected argument `\(first)`") }
        (self.manifest, self.manager, self.method, self.input) = (manifest, manager, method, input)
    }
}

/// The positional arguments of `backplane explain`: `[MANIFEST] NAME`.
struct ExplainWords: Sendable, Hashable {
    /// The path of the manifest, or `nil` for the one in the current folder.
    var manifest: String?
    var manager: String

    init(_ words: [String]) throws(CallWords.Misuse) {
        let (manifest, names) = ManifestChoice.split(words)
        guard let manager = names.first else { throw CallWords.Misuse(description: "NAME is missing") }
        if let second = names.dropFirst().first {
            throw CallWords.Misuse(description: "unexpected argument `\(second)`")
        }
        (self.manifest, self.manager) = (manifest, manager)
    }
}
