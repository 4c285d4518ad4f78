/// What `backplane new` is about to do: files to write, files to change, and what is left to do then. Nothing of it has been done.
struct Blueprint: Sendable, Hashable {
    struct File: Sendable, Hashable {
        /// From the top of the package.
        var path: String
        var text: String
    }

    /// A file of somebody's own that something is put into.
    struct Change: Sendable, Hashable {
        /// From the top of the package.
        var path: String
        var before: String
        var after: String
    }

    /// None of them may be there.
    var files: [File]
    var changes: [Change] = []
    /// Lines of a shell, and what has to be done by hand, in their order.
    var next: [String] = []

    mutating func add(_ path: String, _ text: String) {
        files.append(File(path: path, text: text))
    }

    /// Has a text of somebody's own replaced, where that is another one then.
    mutating func change(_ path: String, from before: String, to after: String) {
        guard before != after else { return }
        changes.append(Change(path: path, before: before, after: after))
    }
}
