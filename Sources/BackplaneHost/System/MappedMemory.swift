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

    /// Returns the memory of those of `files` that this process has mapped, by path, including deleted files.
    ///
    /// This makes one pass over all mappings, at some microseconds each, without holding all of the text in memory.
    package static func of(_ files: Set<String>) throws(SystemError) -> [String: MappedMemory] {
        let file = try FileDescriptor(opening: "/proc/self/smaps", O_RDONLY), number = file.number
        var reading = Reading(of: files), chunk = [UInt8](repeating: 0, count: 1 << 16), rest: [UInt8] = []
        while true {
            let count = try retryingInterrupted { read(number, &chunk, chunk.count) }
            if count == 0 { return reading.memory }
            rest += chunk[..<count]
            let end = rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            reading.read(rest[..<end])
            rest.removeFirst(end)
        }
    }

    /// A parser of that text, which processes whole lines: the first line of each mapping followed by its figures.
    struct Reading {
        let files: Set<String>
        private(set) var memory: [String: MappedMemory] = [:]
        /// The file of the current mapping; `nil` if it is of no interest.
        private var path: String?
        /// A Boolean value that indicates whether the current mapping is of a file's variables.
        private var isVariables = false
        /// The end address of the current mapping.
        private var end: ArraySlice<UInt8> = []

        init(of files: Set<String>) { self.files = files }

        mutating func read(_ lines: ArraySlice<UInt8>) {
            for line in lines.split(separator: UInt8(ascii: "\n")) {
                if let size = Self.kilobytes("Size:", line) {
                    if let path { memory[path, default: MappedMemory()].mapped += size }
                } else if let dirty = Self.kilobytes("Anonymous:", line) {
                    if let path { memory[path, default: MappedMemory()].dirty += dirty }
                } else if let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
                    begin(line)
                }
            }
        }

        /// Begins a mapping at a first line such as `7f5c0000-7f5c1000 r-xp 00002000 fe:01 1234   /loads/1-libA.so
        /// (deleted)`.
        private mutating func begin(_ line: ArraySlice<UInt8>) {
            let addresses = line.prefix { $0 != UInt8(ascii: " ") },
                fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            let start = addresses.prefix { $0 != UInt8(ascii: "-") }
            let isWritable = fields.count > 1 && fields[1].dropFirst().first == UInt8(ascii: "w")
            // A library's zero-initialised variables have no file, and are mapped directly behind its other variables.
            // Mappings behind those, such as the stack of a thread, are not the library's.
            let goesOn = fields.count == 5 && isWritable && isVariables && start.elementsEqual(end)
            if !goesOn { path = Self.path(line).flatMap { files.contains($0) ? $0 : nil } }
            isVariables = !goesOn && isWritable && path != nil
            end = addresses.dropFirst(start.count + 1)
        }

        /// Returns the bytes of a line such as `Size:     12 kB`.
        private static func kilobytes(_ name: String, _ line: ArraySlice<UInt8>) -> Int? {
            guard line.starts(with: name.utf8) else { return nil }
            let digits = line.dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") }.prefix {
                $0 != UInt8(ascii: " ")
            }
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
}
