import Glibc

/// The memory used by the mappings of one file in this process, according to `/proc/self/smaps`.
package struct MappedMemory: Sendable, Hashable {
    /// The bytes of pages that this process has written to, which cannot be read from the file again.
    ///
    /// Pages of the file itself are not counted, though they may still wait to be written to the disk. A file on a file
    /// system in memory additionally uses its own size.
    package var dirty = 0
    /// The address space in bytes.
    package var mapped = 0

    package init(dirty: Int = 0, mapped: Int = 0) { (self.dirty, self.mapped) = (dirty, mapped) }

    /// Returns the memory of the given files that this process has mapped, keyed by path, including deleted files.
    ///
    /// This makes one pass over all mappings, at some microseconds each.
    package static func of(_ files: Set<String>) throws(SystemError) -> [String: MappedMemory] {
        // Enough for as many mappings as the system allows by default, 65,530 of some 800 bytes.
        let text = try FileDescriptor(opening: "/proc/self/smaps", O_RDONLY).bytes(count: 1 << 26)
        var memory: [String: MappedMemory] = [:]
        // The current mapping: its file, if its memory is requested, whether it has the file's variables, and its end.
        var path: String?, isVariables = false, end: ArraySlice<UInt8> = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if let size = kilobytes("Size:", line) {
                if let path { memory[path, default: MappedMemory()].mapped += size }
            } else if let dirty = kilobytes("Anonymous:", line) {
                if let path { memory[path, default: MappedMemory()].dirty += dirty }
            } else if let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
                // Such as `7f5c0000-7f5c1000 r-xp 00002000 fe:01 1234   /loads/1-libA.so (deleted)`.
                let addresses = line.prefix { $0 != UInt8(ascii: " ") },
                    fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
                let start = addresses.prefix { $0 != UInt8(ascii: "-") }
                let isWritable = fields.count > 1 && fields[1].dropFirst().first == UInt8(ascii: "w")
                // A library's zero-initialised variables have no file, and are mapped directly behind its other
                // variables. Mappings behind those, such as the stack of a thread, are not the library's.
                let goesOn = fields.count == 5 && isWritable && isVariables && start.elementsEqual(end)
                if !goesOn { path = self.path(line).flatMap { files.contains($0) ? $0 : nil } }
                isVariables = !goesOn && isWritable && path != nil
                end = addresses.dropFirst(start.count + 1)
            }
        }
        return memory
    }

    /// Returns the bytes of a line such as `Size:     12 kB`.
    private static func kilobytes(_ name: String, _ line: ArraySlice<UInt8>) -> Int? {
        guard line.starts(with: name.utf8) else { return nil }
        let digits = line.dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
        return Int(String(decoding: digits, as: UTF8.self)).map { $0 * 1_024 }
    }

    /// Returns the path on a line, without the mark of a deleted file.
    private static func path(_ line: ArraySlice<UInt8>) -> String? {
        let path = line.drop { $0 != UInt8(ascii: "/") }, mark = " (deleted)".utf8
        if path.isEmpty { return nil }
        return String(
            decoding: path.suffix(mark.count).elementsEqual(mark) ? path.dropLast(mark.count) : path, as: UTF8.self)
    }
}
