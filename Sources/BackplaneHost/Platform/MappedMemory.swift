import Glibc

/// What the mappings of one file cost this process, as `/proc/self/smaps` has it.
package struct MappedMemory: Sendable, Hashable {
    /// Bytes that only this process has and that cannot be fetched from the file again. In a folder that lies in memory all pages in
    /// use are such.
    package var dirty = 0
    /// Bytes of address space.
    package var mapped = 0

    package init(dirty: Int = 0, mapped: Int = 0) { (self.dirty, self.mapped) = (dirty, mapped) }

    /// Of those of `files` that this process has mapped, by their paths, whether they are still there or not.
    ///
    /// One pass over everything that is mapped, some microseconds for each mapping, and never all of its text at once.
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

    /// The same from text: whole lines, each mapping's first line followed by its figures.
    struct Reading {
        let files: Set<String>
        private(set) var memory: [String: MappedMemory] = [:]
        /// Of the mapping that the next figures are of; `nil`: one of no interest.
        private var path: String?
        /// Where that mapping ends.
        private var end: ArraySlice<UInt8> = []

        init(of files: Set<String>) { self.files = files }

        mutating func read(_ lines: ArraySlice<UInt8>) {
            for line in lines.split(separator: UInt8(ascii: "\n")) {
                if let size = Self.kilobytes("Size:", line) {
                    if let path { memory[path, default: MappedMemory()].mapped += size }
                } else if let dirty = Self.kilobytes("Private_Dirty:", line) {
                    if let path { memory[path, default: MappedMemory()].dirty += dirty }
                } else if let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
                    begin(line)
                }
            }
        }

        /// A mapping's first line, such as `7f5c0000-7f5c1000 r-xp 00002000 fe:01 1234   /loads/1-libA.so (deleted)`.
        private mutating func begin(_ line: ArraySlice<UInt8>) {
            let addresses = line.prefix { $0 != UInt8(ascii: " ") }, fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            let start = addresses.prefix { $0 != UInt8(ascii: "-") }
            // A library's variables that begin as zeros are in no file, and lie right behind those that do not.
            let goesOn = fields.count == 5 && start.elementsEqual(end)
            if !goesOn { path = Self.path(line).flatMap { files.contains($0) ? $0 : nil } }
            end = addresses.dropFirst(start.count + 1)
        }

        /// The bytes that a line such as `Size:     12 kB` gives.
        private static func kilobytes(_ name: String, _ line: ArraySlice<UInt8>) -> Int? {
            guard line.starts(with: name.utf8) else { return nil }
            let digits = line.dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
            return Int(String(decoding: digits, as: UTF8.self)).map { $0 * 1_024 }
        }

        /// What stands from the first slash on.
        private static func path(_ line: ArraySlice<UInt8>) -> String? {
            let path = line.drop { $0 != UInt8(ascii: "/") }, mark = " (deleted)".utf8
            if path.isEmpty { return nil }
            return String(decoding: path.suffix(mark.count).elementsEqual(mark) ? path.dropLast(mark.count) : path, as: UTF8.self)
        }
    }
}
