import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

/// The plan of `backplane new`: files to write, changes of existing ones, and the next commands.
struct Blueprint: Sendable, Hashable {
    struct File: Sendable, Hashable {
        /// The path relative to the root of the package.
        var path: String
        var text: String
    }

    /// A change of an existing file.
    struct Change: Sendable, Hashable {
        /// The path relative to the root of the package.
        var path: String
        var before: String
        var after: String

        /// The removed lines, each after a minus sign, and the added lines, each after a plus sign.
        var difference: [String] {
            let lines = [before, after].map { $0.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }
            return lines[1].difference(from: lines[0]).map { change in
                switch change {
                case .remove(let offset, let line, _): (offset, "- \(line)")
                case .insert(let offset, let line, _): (offset, "+ \(line)")
                }
            }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// The files to create; none of them may exist.
    var files: [File]
    var changes: [Change] = []
    /// The lines to add to existing Swift sources; after ``edit(in:)``, only the lines that the user has to paste.
    var pastes: [Paste] = []
    /// The shell commands to enter next, in order.
    var next: [String] = []

    mutating func add(_ path: String, text: String) {
        files.append(File(path: path, text: text))
    }

    /// Adds a file from a template.
    mutating func add(_ path: String, _ template: String, _ values: [String: String] = [:]) throws(BackplaneError) {
        add(path, text: try Template.text(template, values))
    }

    /// Adds the file that turns a library into a plugin, which registers component classes.
    mutating func addPlugin(_ name: NewName, classes: [String], in folder: String) throws(BackplaneError) {
        let classes = classes.map { "        registrar.add(\($0).self)" }.joined(separator: "\n")
        try add(
            "\(folder)/\(name.text)Plugin.swift", "plugin.swift",
            ["name": name.text, "kebab": name.kebab, "classes": classes])
    }

    /// Adds the change of an existing file, unless both texts are equal.
    mutating func change(_ path: String, from before: String, to after: String) {
        guard before != after else { return }
        changes.append(Change(path: path, before: before, after: after))
    }

    /// Converts lines to paste into changes, except in sources that are too complex to be edited.
    ///
    /// The changed Package.swift is tried outside the package, and left unchanged if SwiftPM cannot read it.
    mutating func edit(in package: PackageFolder) {
        for index in pastes.indices where pastes[index].file == "Package.swift" {
            pastes[index].file = package.manifest
        }
        for file in Set(pastes.map(\.file)).sorted() {
            guard let before = package.contents(of: file) else { continue }
            var edit = SwiftEdit(before)
            let left = pastes.filter { $0.file != file || !edit.add($0.lines, to: $0.place, of: $0.owner) }
            guard file != package.manifest || package.accepts(edit.text) else { continue }
            pastes = left
            change(file, from: before, to: edit.text)
        }
    }

    /// Adds elements to add to a list in Package.swift, if there are any.
    mutating func paste(_ elements: [String], into list: String, of owner: String? = nil) {
        guard !elements.isEmpty else { return }
        let lines = elements.flatMap { "\($0),".split(separator: "\n").map(String.init) }
        pastes.append(Paste(file: "Package.swift", place: list, owner: owner, lines: lines))
    }
}

/// Lines to add to an existing source file, and their position.
struct Paste: Sendable, Hashable {
    /// The path relative to the root of the package.
    var file: String
    /// The list or function body to which the lines are added, at its beginning.
    var place: String
    /// The target or type that contains it, or `nil` for the package itself.
    var owner: String?
    var lines: [String]

    /// The instruction to print above the lines.
    var instruction: String {
        "paste into \(file), at the top of `\(place)`\(owner.map { " of `\($0)`" } ?? ""):"
    }
}

extension Paste: Encodable {
    private enum CodingKeys: String, CodingKey { case file, place, owner = "of", lines }
}

extension Blueprint {
    /// Writes all files and changes; if anything fails, removes the written files.
    ///
    /// - Parameter root: The root of the package, which is created if missing.
    /// - Throws: `new.exists` with all existing files, or `new.unwritable`.
    func write(in root: String) throws(BackplaneError) {
        try requireNew(in: root)
        var undo = Undo()
        do throws(BackplaneError) {
            for file in files {
                let path = FilePath.join(root, file.path)
                try undo.makeFolder(FilePath.folder(of: path))
                try undo.create(path, file.text)
            }
            for change in changes {
                try undo.replace(FilePath.join(root, change.path), change.before, with: change.after)
            }
        } catch {
            undo.run()
            throw error
        }
    }

    /// Checks that no file of the blueprint exists.
    ///
    /// - Throws: `new.exists` with all existing files.
    func requireNew(in root: String) throws(BackplaneError) {
        let there = files.map(\.path).filter { (try? FileStatus(at: FilePath.join(root, $0))) != nil }
        guard !there.isEmpty else { return }
        let verb = there.count == 1 ? "is" : "are"
        throw BackplaneError(
            .newExists,
            "\(Self.list(there)) already \(verb), and nothing is overwritten; choose another name, or move it",
            at: root)
    }

    static func list(_ paths: [String]) -> String {
        let shown = paths.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
        return paths.count > 20 ? "\(shown) and \(paths.count - 20) more" : shown
    }
}

/// A record of completed steps, which can be undone if a later one fails.
struct Undo {
    private var folders: [String] = []
    private var files: [String] = []
    private var changes: [(path: String, before: String)] = []

    /// Creates a folder and its missing parents.
    mutating func makeFolder(_ path: String) throws(BackplaneError) {
        if (try? FileStatus(at: path)) != nil { return }
        let parent = FilePath.folder(of: path)
        if parent != path { try makeFolder(parent) }
        guard mkdir(path, 0o777) == 0 else { throw Self.unwritable(path, SystemError(errno)) }
        folders.append(path)
    }

    /// Creates a file.
    ///
    /// - Throws: `new.unwritable`, including if the file exists.
    mutating func create(_ path: String, _ text: String) throws(BackplaneError) {
        do throws(SystemError) { try FileReplacement.create(path, with: Array(text.utf8), mode: 0o666) } catch {
            throw Self.unwritable(path, error)
        }
        files.append(path)
    }

    /// Replaces the contents of a file, unless they have changed since they were read.
    ///
    /// - Throws: `new.unwritable`.
    mutating func replace(_ path: String, _ before: String, with after: String) throws(BackplaneError) {
        guard (try? Data(contentsOf: URL(filePath: path))) == Data(before.utf8) else {
            throw BackplaneError(.newUnwritable, "the file was changed in the meantime; try again", at: path)
        }
        do throws(BackplaneError) {
            try ManifestFile.replace(path, with: Data(after.utf8))
        } catch {
            throw BackplaneError(.newUnwritable, error.message, at: path)
        }
        changes.append((path, before))
    }

    /// Undoes the recorded steps and ignores errors, because the original error is the one to report.
    func run() {
        for (path, before) in changes { try? ManifestFile.replace(path, with: Data(before.utf8)) }
        for file in files { unlink(file) }
        for folder in folders.reversed() { rmdir(folder) }
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> BackplaneError {
        BackplaneError(.newUnwritable, "the file or folder cannot be written: \(error)", at: path)
    }
}
