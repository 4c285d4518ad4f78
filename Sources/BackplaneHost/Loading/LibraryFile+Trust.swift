import Backplane
import Glibc

/// The checks before the copy: whether no other user can have placed the file.
extension LibraryFile {
    /// Opens the file itself and refuses a symbolic link, which its owner could redirect.
    ///
    /// Links in the path to it are followed, because SwiftPM's `.build/debug` is a link.
    static func open(_ path: String) throws(BackplaneError) -> FileDescriptor {
        do throws(SystemError) {
            // Without O_NONBLOCK, opening a pipe in place of the library would block.
            return try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            let status = try? FileStatus(at: path)
            if status?.kind == .link {
                throw BackplaneError(
                    .pluginUntrusted,
                    "a plugin must be a regular file, but this is a symbolic link; name the file that it points to",
                    at: path)
            }
            // Sockets cannot be opened, nor can devices where the mount excludes them.
            if let status { try requireRegularFile(status, path) }
            let code: BackplaneError.Code = error.number == ENOENT ? .pluginNotFound : .pluginUnreadable
            throw BackplaneError(code, "the library cannot be opened: \(error)", at: path)
        }
    }

    static func status(of file: borrowing FileDescriptor, _ path: String) throws(BackplaneError) -> FileStatus {
        do throws(SystemError) {
            return try FileStatus(of: file)
        } catch {
            throw BackplaneError(.pluginUnreadable, "the library cannot be inspected: \(error)", at: path)
        }
    }

    static func requireRegularFile(_ status: FileStatus, _ path: String) throws(BackplaneError) {
        guard status.kind == .file else {
            throw BackplaneError(
                .pluginUntrusted,
                "a plugin must be a regular file, but this is \(status.kind.rawValue); name the library itself",
                at: path)
        }
    }

    static func requireTrustedOwner(_ status: FileStatus, user: UInt32 = geteuid(), _ path: String)
        throws(BackplaneError)
    {
        guard status.owner == user || status.owner == 0 else {
            throw BackplaneError(
                .pluginUntrusted,
                """
                a plugin must belong to the user who runs the host (\(user)) or to root, but this one belongs to user \(status.owner); \
                chown it if you trust it
                """,
                at: path)
        }
    }

    /// Checks that the file is not writable by everyone.
    ///
    /// The group may write to it, because on many systems each user has their own group and a umask of 002.
    static func requireTrustedMode(_ status: FileStatus, _ path: String) throws(BackplaneError) {
        guard !status.isWritableByOthers else {
            throw BackplaneError(
                .pluginUntrusted,
                "everyone can write to this library (mode \(status.modeText)); chmod o-w it if you trust it", at: path)
        }
    }

    static func requireBoundedSize(_ status: FileStatus, _ path: String) throws(BackplaneError) {
        guard status.size <= maximumSize else {
            throw BackplaneError(
                .pluginUnreadable,
                "a plugin may have at most \(maximumSize) bytes, but this one has \(status.size); strip it or split it",
                at: path)
        }
    }
}
