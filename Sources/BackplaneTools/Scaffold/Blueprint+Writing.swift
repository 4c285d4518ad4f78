import Backplane
import BackplaneHost

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
