import Glibc

package enum FileTree {
    /// Returns up to `most` names in the folder at `path`, sorted by their bytes.
    package static func names(in path: String, most: Int = .max) throws(SystemError) -> [String] {
        guard let folder = opendir(path) else { throw .last }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < most, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Removes the folder at `path` with its contents; links are removed, not followed.
    ///
    /// Files that cannot be removed remain, as do the folders that contain them.
    package static func remove(_ path: String) {
        for name in (try? names(in: path)) ?? [] {
            let child = FilePath.join(path, name)
            if (try? FileStatus(at: child))?.kind == .folder { remove(child) } else { unlink(child) }
        }
        rmdir(path)
    }

    /// Returns whether two folders contain the same files with the same bytes; unreadable files count as different.
    static func isSame(_ path: String, as other: String) -> Bool {
        guard let names = try? names(in: path), names == (try? self.names(in: other)) else { return false }
        return names.allSatisfy { name in
            let (here, there) = (FilePath.join(path, name), FilePath.join(other, name))
            guard let kind = try? FileStatus(at: here).kind, kind == (try? FileStatus(at: there))?.kind else {
                return false
            }
            return kind == .folder ? isSame(here, as: there) : kind == .file && isSameFile(here, as: there)
        }
    }

    /// Returns whether two files have the same bytes; unreadable files count as different.
    ///
    /// - Parameter released: The ranges of the other file whose storage may have been released, which are not compared
    ///   then.
    static func isSameFile(_ path: String, as other: String, unless released: [Range<Int>] = []) -> Bool {
        guard let here = try? FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let there = try? FileDescriptor(opening: other, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
            let size = try? FileStatus(of: here).size, let otherSize = try? FileStatus(of: there).size,
            size == otherSize
        else { return false }
        var holes: [Range<Int>] = []
        for range in released where there.isHole(range) { holes.append(range) }
        for range in holes.gaps(upTo: size) where !here.isSame(as: there, in: range) { return false }
        return true
    }
}
