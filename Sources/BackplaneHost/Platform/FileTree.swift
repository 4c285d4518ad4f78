import Glibc

/// A namespace for operations on a folder and its contents.
package enum FileTree {
    /// Returns the names in the folder at `path`, sorted by their bytes.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - most: The maximum number of entries; the rest are omitted.
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
}
