import Glibc

/// A namespace for folders to which only this user can write.
package enum PrivateFolder {
    /// The reason why a folder is not private, worded to follow its path in a sentence.
    package struct Defect: Error, Hashable {
        package let reason: String
        /// The remedy for a folder that serves only this purpose.
        var advice: String?
        package var text: String { [reason, advice].compactMap(\.self).joined(separator: "; ") }
    }

    /// Creates the folder at `path` with mode 0700, and missing folders above it.
    ///
    /// An existing folder is accepted if it is not a symbolic link, belongs to the user, and is not writable by others.
    package static func make(at path: String) throws(Defect) {
        let path = FilePath.absolute(path)
        let status: FileStatus
        do throws(SystemError) {
            try makeAll(path)
            status = try FileStatus(at: path)
        } catch {
            throw Defect(reason: "cannot be created or inspected: \(error)")
        }
        try verify(status)
    }

    /// Creates the folder and missing ones above it.
    ///
    /// - Precondition: `path` is absolute and does not end with a slash, which would follow a link.
    private static func makeAll(_ path: String) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT where path != "/":
            try makeAll(FilePath.folder(of: path))
            // Another process may have created it in the meantime.
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
        default: throw .last
        }
    }

    private static func verify(_ status: FileStatus) throws(Defect) {
        guard status.kind == .folder else { throw Defect(reason: "is \(status.kind.rawValue), not a folder") }
        guard status.owner == geteuid() else {
            throw Defect(reason: "belongs to user \(status.owner), not to user \(geteuid()), who runs this program")
        }
        guard !status.isWritableByAnyoneElse else {
            throw Defect(
                reason: "can be written to by others (mode \(status.modeText))", advice: "chmod 700 it")
        }
    }
}
