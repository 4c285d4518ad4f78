extension ELFImage {
    /// An entry of a symbol table, for reading many; ``defines(symbol:)`` is faster for finding a single one.
    struct SymbolEntry {
        let name: String
        let isDefined: Bool
        /// A Boolean value that indicates whether another library's symbol of the same name may replace it.
        let isInterposable: Bool
        let kind: Kind
        let address, size: UInt64

        enum Kind {
            case unsaid, object, function, other
        }
    }

    enum SymbolTable: UInt32 {
        /// SHT_SYMTAB, which a stripped library does not have.
        case whole = 2
        /// SHT_DYNSYM, the symbols that the loader needs.
        case dynamic = 11
    }

    /// Returns the entries of the tables in their order; unreadable entries are omitted.
    func symbolEntries(in kinds: [SymbolTable]) -> [SymbolEntry] {
        let reader = ELFReader(bytes)
        var found: [SymbolEntry] = []
        for table in sections
        where kinds.contains(where: { $0.rawValue == table.type }) && Int(table.link) < sections.count {
            let texts = sections[Int(table.link)].range
            for offset in stride(from: table.range.lowerBound, through: table.range.upperBound - 24, by: 24) {
                if let entry = try? SymbolEntry(reader, at: UInt64(offset), names: texts) { found.append(entry) }
            }
        }
        return found
    }

    /// A Boolean value that indicates whether the image has only the symbols that the loader needs.
    package var isStripped: Bool { !sections.contains { $0.type == SymbolTable.whole.rawValue } }
}

extension ELFImage.SymbolEntry {
    fileprivate init(_ reader: ELFReader, at offset: UInt64, names: Range<Int>) throws(ELFImage.Problem) {
        let info = try reader.uint8(offset + 4), visibility = try reader.uint8(offset + 5) & 3
        kind =
            switch info & 0xF {
            case 0: .unsaid
            case 1: .object
            case 2: .function
            default: .other
            }
        isInterposable = info >> 4 != 0 /* STB_LOCAL */ && visibility == 0 /* STV_DEFAULT */
        isDefined = try reader.uint16(offset + 6) != 0 /* SHN_UNDEF */
        address = try reader.uint64(offset + 8)
        size = try reader.uint64(offset + 16)
        name = try reader.text(at: UInt64(reader.uint32(offset)), in: names)
    }
}
