/// The positional arguments of `backplane call`: `[MANIFEST] MANAGER [METHOD [JSON]]`.
struct CallWords: Sendable, Hashable {
    /// The path of the manifest, or `nil` for the one in the current folder.
    var manifest: String?
    var manager: String
    /// The method, or `nil` to list the manager's.
    var method: String?
    /// The input as JSON, `-` for standard input, or `nil` if none was given.
    var input: String?

    init(_ words: [String]) throws(Misuse) {
        let (manifest, rest) = ManifestChoice.split(words)
        var names = rest
        guard let manager = names.popFirst() else { throw Misuse(description: "MANAGER is missing") }
        let method = names.popFirst()
        let input = names.popFirst()
        if let first = names.first { throw Misuse(description: "unexpected argument `\(first)`") }
        (self.manifest, self.manager, self.method, self.input) = (manifest, manager, method, input)
    }
}
