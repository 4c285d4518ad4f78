import Glibc

extension FileDescriptor {
    /// Opens `path` below `folder` for reading and nothing outside it, whatever the path says: every step is taken on its own,
    /// `..` is refused and so is a symbolic link.
    ///
    /// - Throws: `EXDEV` where the path would leave the folder, `ELOOP` for a link, and what opening throws.
    init(readingBeneath folder: String, _ path: String) throws(SystemError) {
        let parts = path.split(separator: "/")
        guard let last = parts.last, !path.hasPrefix("/"), !parts.contains(".."), !path.utf8.contains(0) else { throw SystemError(EXDEV) }
        var current = try FileDescriptor(opening: folder, O_RDONLY | O_DIRECTORY)
        // Without O_NONBLOCK a pipe of that name would be waited for; with O_DIRECTORY a link would be ENOTDIR, as a file is.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        for part in parts.dropLast() { current = try FileDescriptor(openingIn: current, String(part), flags) }
        self = try FileDescriptor(openingIn: current, String(last), flags)
    }
}
