import Glibc

/// The program and the libraries that are currently mapped into this process.
enum LoadedObjects {
    /// The paths of all mapped files; `nil` if `/proc` is not mounted.
    static var paths: Set<String>? {
        // `dl_iterate_phdr` would wait for a library whose constructor hangs.
        guard let maps = try? FileDescriptor(opening: "/proc/self/maps", O_RDONLY).bytes(count: 1 << 24) else {
            return nil
        }
        let paths = maps.split(separator: UInt8(ascii: "\n")).compactMap { line in
            line.firstIndex(of: UInt8(ascii: "/")).map { String(decoding: line[$0...], as: UTF8.self) }
        }
        return Set(paths)
    }
}
