import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

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
