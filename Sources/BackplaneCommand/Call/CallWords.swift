/// The positional arguments of `backplane call`: `[MANIFEST] MANAGER METHOD [JSON]`.
struct CallWords: Sendable, Hashable {
    /// The path of the manifest, or `nil` for the one in the current folder.
    var manifest: String?
    var manager: String
    var method: String
    var input: String

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
