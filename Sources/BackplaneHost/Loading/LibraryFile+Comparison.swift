import Glibc

extension LibraryFile {
    /// Is the file at `path` byte for byte what was loaded from `copy`? Symbols that the copy does not have count as the same.
    ///
    /// A file that cannot be read is not: loading it says why.
    static func isSame(_ path: String, as copy: String, in folder: LoadFolder) -> Bool {
        guard let there = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), let here = try? FileDescriptor(opening: copy, O_RDONLY),
            let size = try? FileStatus(of: there).size, let own = try? FileStatus(of: here).size, size == own
        else { return false }
        for range in folder.remainders.missing(in: copy).gaps(upTo: size) where !there.isSame(as: here, in: range) { return false }
        return true
    }
}
