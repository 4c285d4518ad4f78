import Glibc

extension LibraryFile {
    /// Is the file at `path` byte for byte what was loaded from `copy`? Symbols that the copy does not have count as the same.
    ///
    /// A file that cannot be read is not: loading it says why.
    static func isSame(_ path: String, as copy: String, in folder: LoadFolder) -> Bool {
        guard let there = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), let here = try? FileDescriptor(opening: copy, O_RDONLY),
            let size = try? FileStatus(of: there).size, let own = try? FileStatus(of: here).size, size == own
        else { return false }
        return folder.remainders.missing(in: copy).gaps(upTo: size).flatMap(pieces).allSatisfy { piece in
            guard let theirs = try? there.bytes(in: piece), let ours = try? here.bytes(in: piece) else { return false }
            return theirs == ours && theirs.count == piece.count
        }
    }

    /// Another build mostly differs where it begins: a small piece shows that.
    private static func pieces(of range: Range<Int>) -> [Range<Int>] {
        stride(from: range.lowerBound, to: range.upperBound, by: 1 << 16).map { $0..<min($0 + 1 << 16, range.upperBound) }
    }
}
