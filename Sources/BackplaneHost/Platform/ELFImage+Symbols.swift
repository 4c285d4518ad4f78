extension ELFImage {
    /// Whether the library itself defines the function `name` and lets others see it; one that it merely needs does not count.
    ///
    /// Reads the dynamic symbol table, which stays in a library that was stripped.
    package func defines(symbol name: String) -> Bool {
        let reader = ELFReader(bytes)
        return sections.contains { table in
            guard table.type == 11 /* SHT_DYNSYM */, Int(table.link) < sections.count else { return false }
            let names = sections[Int(table.link)].range
            return stride(from: table.range.lowerBound, through: table.range.upperBound - 24, by: 24).contains { entry in
                Symbol(reader, at: UInt64(entry)).isVisibleFunction(named: name, names, reader)
            }
        }
    }

    /// An entry of a symbol table that is known to lie inside the file.
    private struct Symbol {
        let name: UInt32
        let info, other: UInt8
        let section: UInt16

        init(_ reader: ELFReader, at offset: UInt64) {
            // At once: there are thousands of entries.
            let fields = (try? reader.uint64(offset)) ?? 0
            name = UInt32(truncatingIfNeeded: fields)
            info = UInt8(truncatingIfNeeded: fields >> 32)
            other = UInt8(truncatingIfNeeded: fields >> 40)
            section = UInt16(truncatingIfNeeded: fields >> 48)
        }

        func isVisibleFunction(named wanted: String, _ names: Range<Int>, _ reader: ELFReader) -> Bool {
            let isFunction = info & 0xF == 2 // STT_FUNC
            let isShared = info >> 4 == 1 || info >> 4 == 2 // STB_GLOBAL, STB_WEAK
            let isVisible = other & 3 == 0 || other & 3 == 3 // STV_DEFAULT, STV_PROTECTED
            guard isFunction && isShared && isVisible && section != 0 /* SHN_UNDEF */ else { return false }
            return reader.isText(wanted, at: UInt64(name), in: names)
        }
    }
}
