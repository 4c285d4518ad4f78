/// The plan of `backplane new`: files to write, lines to paste, and the next commands.
struct Blueprint: Sendable, Hashable {
    struct File: Sendable, Hashable {
        /// The path relative to the root of the package.
        var path: String
        var text: String
    }

    /// A change of an existing JSON manifest.
    struct Change: Sendable, Hashable {
        /// The path relative to the root of the package.
        var path: String
        var before: String
        var after: String
    }

    /// The files to create; none of them may exist.
    var files: [File]
    var changes: [Change] = []
    /// The lines for the user to paste into existing Swift sources, which are not edited.
    var pastes: [Paste] = []
    /// The shell commands to enter next, in order.
    var next: [String] = []

    mutating func add(_ path: String, _ text: String) {
        files.append(File(path: path, text: text))
    }

    /// Adds the change of an existing file, unless both texts are equal.
    mutating func change(_ path: String, from before: String, to after: String) {
        guard before != after else { return }
        changes.append(Change(path: path, before: before, after: after))
    }

    /// Adds elements to paste into a list in Package.swift, if there are any.
    mutating func paste(_ elements: [String], into list: String, of owner: String? = nil) {
        guard !elements.isEmpty else { return }
        let lines = elements.flatMap { "\($0),".split(separator: "\n").map(String.init) }
        pastes.append(Paste(file: "Package.swift", place: list, owner: owner, lines: lines))
    }
}
