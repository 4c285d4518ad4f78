import Backplane
import BackplaneHost
import BackplaneProcesses

extension Blueprint {
    /// Does all of it, or nothing: what was done is undone when something fails or a signal comes.
    ///
    /// - Parameters:
    ///   - root: the top of the package; made where it is missing.
    ///   - check: asked when all is written whether that is as it should be.
    /// - Throws: `new.exists` with everything that is there already; `new.unwritable`; `new.interrupted`; what `check` throws.
    func write(in root: String, _ undo: Undo, _ interruption: Interruption, check: () throws(BackplaneError) -> Void = {}) throws(BackplaneError) {
        try requireNew(in: root)
        do throws(BackplaneError) {
            for file in files {
                let path = FilePath.join(root, file.path)
                try undo.makeFolder(FilePath.folder(of: path))
                try undo.create(path, file.text)
            }
            for change in changes { try undo.replace(FilePath.join(root, change.path), change.before, with: change.after) }
            if interruption.signal == nil { try check() }
            try requireNone(interruption, root)
        } catch {
            undo.run()
            // Whatever fails then does so because of it.
            try requireNone(interruption, root)
            throw error
        }
    }

    private func requireNone(_ interruption: Interruption, _ root: String) throws(BackplaneError) {
        guard let signal = interruption.signal else { return }
        throw BackplaneError(.newInterrupted, "\(StopSignals.name(of: signal)) came before it was done; what was put in was taken out again", at: root)
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
}
