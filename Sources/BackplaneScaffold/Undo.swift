import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc
import Synchronization

/// What has been written so far of something that is made, so that nothing of it stays when it fails or is stopped.
final class Undo: Sendable {
    private struct Done {
        var folders: [String] = []
        var files: [String] = []
        var changes: [(path: String, before: String)] = []
        /// It was undone: nothing more is written.
        var isOver = false
    }
    private let done = Mutex(Done())

    /// Makes a folder, and those that it lies in.
    func makeFolder(_ path: String) throws(BackplaneError) {
        try write(path) { done throws(BackplaneError) in try Self.makeFolder(path, &done) }
    }

    /// Writes a file that is not there yet.
    func create(_ path: String, _ text: String) throws(BackplaneError) {
        try write(path) { done throws(BackplaneError) in
            do throws(SystemError) { try FileReplacement.create(path, with: Array(text.utf8), mode: 0o666) } catch { throw Self.unwritable(path, error) }
            done.files.append(path)
        }
    }

    /// Puts a text in the place of another; whoever has changed the file in between has a say.
    func replace(_ path: String, _ before: String, with after: String) throws(BackplaneError) {
        try write(path) { done throws(BackplaneError) in
            guard (try? Data(contentsOf: URL(filePath: path))) == Data(before.utf8) else {
                throw BackplaneError(.newUnwritable, "it was changed in the meantime; try again", at: path)
            }
            do throws(BackplaneError) {
                try ManifestFile.replace(path, with: Data(after.utf8))
            } catch {
                throw BackplaneError(.newUnwritable, error.message, at: path)
            }
            done.changes.append((path, before))
        }
    }

    /// As far as it goes; what it is done for is the error that is reported. Whoever comes second finds it done.
    func run() {
        done.withLock { done in
            for (path, before) in done.changes { try? ManifestFile.replace(path, with: Data(before.utf8)) }
            for file in done.files { unlink(file) }
            for folder in done.folders.reversed() { rmdir(folder) }
            done = Done(isOver: true)
        }
    }

    private func write(_ path: String, _ body: (inout Done) throws(BackplaneError) -> Void) throws(BackplaneError) {
        try done.withLock { done throws(BackplaneError) in
            guard !done.isOver else { throw BackplaneError(.newInterrupted, "it was not written any more", at: path) }
            try body(&done)
        }
    }

    private static func makeFolder(_ path: String, _ done: inout Done) throws(BackplaneError) {
        if (try? FileStatus(at: path)) != nil { return }
        let parent = FilePath.folder(of: path)
        if parent != path { try makeFolder(parent, &done) }
        guard mkdir(path, 0o777) == 0 else { throw unwritable(path, SystemError(errno)) }
        done.folders.append(path)
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> BackplaneError {
        BackplaneError(.newUnwritable, "it cannot be written: \(error)", at: path)
    }
}
