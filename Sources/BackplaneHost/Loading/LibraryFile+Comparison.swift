import Glibc

extension LibraryFile {
    /// Is the file at `path` byte for byte what was loaded from `copy`?
    ///
    /// A file that cannot be read is not: loading it says why.
    static func isSame(_ path: String, as copy: String, in folder: LoadFolder) -> Bool {
        guard let there = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), let here = try? FileDescriptor(opening: copy, O_RDONLY),
            let size = try? FileStatus(of: there).size, let own = try? FileStatus(of: here).size, size == own
        else { return false }
        // Another build mostly differs where it begins; only then it is worth waiting until the copy is whole.
        guard let theirs = try? there.bytes(count: 1 << 16), let ours = try? here.bytes(count: 1 << 16), theirs == ours else { return false }
        folder.remainders.waitUntilIdle()
        while true {
            guard let theirs = try? there.bytes(count: 1 << 18), let ours = try? here.bytes(count: 1 << 18), theirs == ours else { return false }
            if theirs.count < 1 << 18 { return true }
        }
    }
}
