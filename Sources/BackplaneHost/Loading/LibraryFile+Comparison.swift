import Glibc

extension LibraryFile {
    /// Is the file at `path` byte for byte what was loaded from `copy`? What the copy has given back since counts as the same.
    ///
    /// A file that cannot be read is not: loading it says why.
    ///
    /// - Parameter unmapped: what of the copy may have been given back (``LoadFolder/giveRoomBack(_:of:)``).
    static func isSame(_ path: String, as copy: String, unmapped: [Range<Int>]) -> Bool {
        guard let there = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), let here = try? FileDescriptor(opening: copy, O_RDONLY),
            let size = try? FileStatus(of: there).size, let own = try? FileStatus(of: here).size, size == own
        else { return false }
        var givenBack: [Range<Int>] = []
        for range in unmapped where here.isHole(range) { givenBack.append(range) }
        for range in givenBack.gaps(upTo: size) where !there.isSame(as: here, in: range) { return false }
        return true
    }
}
