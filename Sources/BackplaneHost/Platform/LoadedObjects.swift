import Glibc

/// The program and the libraries that are in this process now.
enum LoadedObjects {
    /// The paths of all files that are mapped; `nil` where `/proc` is not mounted.
    static var paths: Set<String>? {
        // Not by `dl_iterate_phdr`, which waits for a library's constructor that hangs.
        guard let maps = try? FileDescriptor(opening: "/proc/self/maps", O_RDONLY).bytes(count: 1 << 24) else { return nil }
        let paths = maps.split(separator: UInt8(ascii: "\n")).compactMap { line in
            line.firstIndex(of: UInt8(ascii: "/")).map { String(decoding: line[$0...], as: UTF8.self) }
        }
        return Set(paths)
    }
}
