/// The plan of what `backplane new` is about to make: files to write, lines to paste, and what to enter next. Nothing of it has been done.
struct Blueprint: Sendable, Hashable {
    struct File: Sendable, Hashable {
        /// From the top of the package.
        var path: String
        var text: String
    }

    /// A JSON manifest that something is put into.
    struct Change: Sendable, Hashable {
        /// From the top of the package.
        var path: String
        var before: String
        var after: String
    }

    /// None of them may be there.
    var files: [File]
    var changes: [Change] = []
    /// What belongs into Swift sources that are there, which stay as they are.
    var pastes: [Paste] = []
    /// Lines of a shell, in their order.
    var next: [String] = []

    mutating func add(_ path: String, _ text: String) {
        files.append(File(path: path, text: text))
    }

    /// Has a text of somebody's own replaced, where that is another one then.
    mutating func change(_ path: String, from before: String, to after: String) {
        guard before != after else { return }
        changes.append(Change(path: path, before: before, after: after))
    }

    /// Has elements pasted into a list of the Package.swift, where there are any.
    mutating func paste(_ elements: [String], into list: String, of owner: String? = nil) {
        guard !elements.isEmpty else { return }
        let lines = elements.flatMap { "\($0),".split(separator: "\n").map(String.init) }
        pastes.append(Paste(file: "Package.swift", place: list, owner: owner, lines: lines))
    }
}
