import Glibc

extension FileDescriptor {
    /// Creates a descriptor for reading `path`, but only below `folder`.
    ///
    /// Each component of the path is opened separately; `..` and symbolic links are refused.
    ///
    /// - Throws: `EXDEV` if the path would leave the folder, `ELOOP` for a symbolic link, or the error of opening.
    init(readingBeneath folder: String, _ path: String) throws(SystemError) {
        // By bytes, as the system does: a slash and a combining accent are one character.
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let last = parts.last, path.utf8.first != UInt8(ascii: "/"), !parts.contains(".."), !path.utf8.contains(0)
        else {
            throw SystemError(EXDEV)
        }
        var current = try FileDescriptor(opening: folder, O_RDONLY | O_DIRECTORY)
        // Without O_NONBLOCK, opening a pipe would block. With O_DIRECTORY, a link would be ENOTDIR, as a file is.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        for part in parts.dropLast() { current = try FileDescriptor(openingIn: current, part, flags) }
        self = try FileDescriptor(openingIn: current, last, flags)
    }
}
