import Glibc

extension LibraryFile {
    /// Returns whether the file at `path` has the same bytes as those loaded from `copy`.
    ///
    /// Storage that the copy has released since counts as equal. An unreadable file counts as different, so that
    /// loading it reports the reason.
    ///
    /// - Parameter unmapped: The ranges of the copy that may have been released (``LoadFolder/giveRoomBack(_:of:)``).
    static func isSame(_ path: String, as copy: String, unmapped: [Range<Int>]) -> Bool {
        guard let there = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let here = try? FileDescriptor(opening: copy, O_RDONLY),
            let size = try? FileStatus(of: there).size, let own = try? FileStatus(of: here).size, size == own
        else { return false }
        var givenBack: [Range<Int>] = []
        for range in unmapped where here.isHole(range) { givenBack.append(range) }
        for range in givenBack.gaps(upTo: size) where !there.isSame(as: here, in: range) { return false }
        return true
    }
}
