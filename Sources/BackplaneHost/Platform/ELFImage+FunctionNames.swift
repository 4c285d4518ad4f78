import CBackplaneHost
import Glibc

extension ELFImage {
    /// The name of the function whose code lies at `offset` in the file, for people; `nil` where no symbol covers it.
    ///
    /// A library that was stripped knows only what it exports.
    package func functionName(at offset: UInt) -> String? {
        let reader = ELFReader(bytes)
        guard let address = Self.address(of: UInt64(offset), reader) else { return nil }
        let tables = sections.filter { $0.type == 2 /* SHT_SYMTAB */ } + sections.filter { $0.type == 11 /* SHT_DYNSYM */ }
        for table in tables where Int(table.link) < sections.count {
            let names = sections[Int(table.link)].range
            for entry in stride(from: table.range.lowerBound, through: table.range.upperBound - 24, by: 24) {
                if let name = Self.function(at: UInt64(entry), covering: address, names, reader) { return SymbolName.readable(name) }
            }
        }
        return nil
    }

    private static func function(at entry: UInt64, covering address: UInt64, _ names: Range<Int>, _ reader: ELFReader) -> String? {
        guard let info = try? reader.uint8(entry + 4), info & 0xF == 2 /* STT_FUNC */,
            let start = try? reader.uint64(entry + 8), let size = try? reader.uint64(entry + 16),
            address >= start, address - start < size, let name = try? reader.uint32(entry)
        else { return nil }
        return try? reader.text(at: UInt64(name), in: names)
    }

    /// Where the loader puts what stands at `offset` in the file, before it adds the library's base.
    private static func address(of offset: UInt64, _ reader: ELFReader) -> UInt64? {
        guard let header = try? Header(reader), let count = try? header.segmentCount(reader) else { return nil }
        for number in 0..<count {
            let entry = header.segments + number * 56
            guard let type = try? reader.uint32(entry), type == 1 /* PT_LOAD */,
                let start = try? reader.uint64(entry + 8), let size = try? reader.uint64(entry + 32),
                let address = try? reader.uint64(entry + 16), offset >= start, offset - start < size
            else { continue }
            return address &+ (offset - start)
        }
        return nil
    }
}

/// Names of functions as linkers know them.
enum SymbolName {
    /// What people would write: Swift's own demangled, any other as it is; never longer than a line of a log can bear.
    static func readable(_ name: String) -> String {
        String(withoutFiles(demangled(name) ?? name).prefix(200))
    }

    /// Leaves out which file a private function is of, an unreadable number: `(f in _C0FFEE)` becomes `f`.
    private static func withoutFiles(_ text: String) -> String {
        guard let mark = text.firstRange(of: " in _"), let open = text[..<mark.lowerBound].lastIndex(of: "("),
            let close = text[mark.upperBound...].firstIndex(of: ")"), text[mark.upperBound..<close].allSatisfy(\.isHexDigit)
        else { return text }
        let rest = withoutFiles(String(text[text.index(after: close)...]))
        return text[..<open] + text[text.index(after: open)..<mark.lowerBound] + rest
    }

    private static func demangled(_ name: String) -> String? {
        guard name.utf8.count < 4_096, let text = swift_demangle(name, name.utf8.count, nil, nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
