import Glibc

/// Makes folders that only this user can write to, and makes sure of those that exist.
package enum PrivateFolder {
    /// Why a folder is not private, as the end of a sentence that begins with its path.
    package struct Problem: Error, Hashable {
        package let text: String
    }

    /// Makes the folder at `path` with mode 0700, and what is missing above it.
    ///
    /// One that exists is accepted when it is a real folder, belongs to the user and nobody else may write to it.
    package static func make(at path: String) throws(Problem) {
        let path = FilePath.absolute(path)
        let status: FileStatus
        do throws(SystemError) {
            try makeAll(path)
            status = try FileStatus(at: path)
        } catch {
            throw Problem(text: "cannot be made or looked at: \(error)")
        }
        try verify(status)
    }

    /// - Precondition: `path` is absolute and has no slash at its end, which would follow a link.
    private static func makeAll(_ path: String) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT where path != "/":
            try makeAll(FilePath.folder(of: path))
            // Another process may have been faster, which is as good.
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
        default: throw .last
        }
    }

    private static func verify(_ status: FileStatus) throws(Problem) {
        guard status.kind == .folder else { throw Problem(text: "is \(status.kind.rawValue), not a folder") }
        guard status.owner == geteuid() else {
            throw Problem(text: "belongs to user \(status.owner), not to user \(geteuid()) who runs this")
        }
        guard !status.isWritableByAnyoneElse else {
            throw Problem(text: "can be written to by others (mode \(status.modeText)); chmod 700 it")
        }
    }
}
