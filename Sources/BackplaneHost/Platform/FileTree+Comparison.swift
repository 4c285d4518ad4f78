import Glibc

extension FileTree {
    /// Returns whether two folders contain the same files with the same bytes; unreadable files count as different.
    static func isSame(_ path: String, as other: String) -> Bool {
        guard let names = try? names(in: path), names == (try? self.names(in: other)) else { return false }
        return names.allSatisfy { name in
            let (here, there) = (FilePath.join(path, name), FilePath.join(other, name))
            guard let kind = try? FileStatus(at: here).kind, kind == (try? FileStatus(at: there))?.kind else {
                return false
            }
            return kind == .folder ? isSame(here, as: there) : kind == .file && isSameFile(here, there)
        }
    }

    private static func isSameFile(_ path: String, _ other: String) -> Bool {
        guard let here = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let there = try? FileDescriptor(opening: other, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let size = try? FileStatus(of: here).size, let otherSize = try? FileStatus(of: there).size,
            size == otherSize
        else { return false }
        return here.isSame(as: there, in: 0..<size)
    }
}
