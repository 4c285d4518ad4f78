import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

extension Blueprint {
    /// Does all of it, or nothing: what was done is undone when something fails.
    ///
    /// - Parameters:
    ///   - root: the top of the package; made where it is missing.
    ///   - check: asked when all is written whether that is as it should be.
    /// - Throws: `new.exists` with everything that is there already; `new.unwritable`; what `check` throws.
    func write(in root: String, check: () throws(BackplaneError) -> Void = {}) throws(BackplaneError) {
        try requireNew(in: root)
        var undo = Undo()
        do throws(BackplaneError) {
            for file in files {
                let path = FilePath.join(root, file.path)
                try undo.makeFolder(FilePath.folder(of: path))
                do { try FileReplacement.create(path, with: Array(file.text.utf8), mode: 0o666) } catch { throw Self.unwritable(path, error) }
                undo.files.append(path)
            }
            for change in changes {
                try Self.replace(FilePath.join(root, change.path), change.before, with: change.after)
                undo.changes.append((FilePath.join(root, change.path), change))
            }
            try check()
        } catch {
            undo.run()
            throw error
        }
    }

    /// - Throws: `new.exists` with every file that is there already.
    func requireNew(in root: String) throws(BackplaneError) {
        let there = files.map(\.path).filter { (try? FileStatus(at: FilePath.join(root, $0))) != nil }
        guard !there.isEmpty else { return }
        let verb = there.count == 1 ? "is" : "are"
        throw BackplaneError(.newExists, "\(Self.list(there)) \(verb) there already, and nothing is overwritten; take another name, or move what is there away", at: root)
    }

    static func list(_ paths: [String]) -> String {
        let shown = paths.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
        return paths.count > 20 ? "\(shown) and \(paths.count - 20) more" : shown
    }

    fileprivate static func unwritable(_ path: String, _ error: SystemError) -> BackplaneError {
        BackplaneError(.newUnwritable, "it cannot be written: \(error)", at: path)
    }

    /// Puts a text in the place of another; whoever has changed the file in between has a say.
    private static func replace(_ path: String, _ before: String, with after: String) throws(BackplaneError) {
        guard (try? Data(contentsOf: URL(filePath: path))) == Data(before.utf8) else {
            throw BackplaneError(.newUnwritable, "it was changed in the meantime; try again", at: path)
        }
        try overwrite(path, with: after)
    }

    fileprivate static func overwrite(_ path: String, with text: String) throws(BackplaneError) {
        do throws(BackplaneError) {
            try ManifestFile.replace(path, with: Data(text.utf8))
        } catch {
            throw BackplaneError(.newUnwritable, error.message, at: path)
        }
    }
}

/// What has been done so far.
private struct Undo {
    var folders: [String] = []
    var files: [String] = []
    var changes: [(path: String, change: Blueprint.Change)] = []

    mutating func makeFolder(_ path: String) throws(BackplaneError) {
        if (try? FileStatus(at: path)) != nil { return }
        let parent = FilePath.folder(of: path)
        if parent != path { try makeFolder(parent) }
        guard mkdir(path, 0o777) == 0 else { throw Blueprint.unwritable(path, SystemError(errno)) }
        folders.append(path)
    }

    /// As far as it goes; what it is done for is the error that is reported.
    func run() {
        for (path, change) in changes { try? Blueprint.overwrite(path, with: change.before) }
        for file in files { unlink(file) }
        for folder in folders.reversed() { rmdir(folder) }
    }
}
