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
        for part in parts.dropLast() {
            current = try FileDescriptor(openingIn: current, String(part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        }
        // Without O_NONBLOCK a pipe of that name would be waited for.
        self = try FileDescriptor(openingIn: current, String(last), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
}
