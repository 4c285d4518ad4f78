/// The positional arguments of `backplane explain`: `[MANIFEST] NAME`.
struct ExplainWords: Sendable, Hashable {
    /// The path of the manifest, or `nil` for the one in the current folder.
    var manifest: String?
    var manager: String

    init(_ words: [String]) throws(Misuse) {
        let (manifest, names) = ManifestChoice.split(words)
        guard let manager = names.first else { throw Misuse(description: "NAME is missing") }
        if let second = names.dropFirst().first {
            throw Misuse(description: "unexpected argument `\(second)`")
        }
        (self.manifest, self.manager) = (manifest, manager)
    }
}
