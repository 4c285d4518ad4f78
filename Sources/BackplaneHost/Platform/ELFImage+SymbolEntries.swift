extension ELFImage {
    /// An entry of a symbol table, for reading many; ``defines(symbol:)`` is faster for finding a single one.
    struct SymbolEntry {
        /// The offset of its name in the table of names.
        let name: UInt32
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
        /// SHT_SYMTAB, which stripped libraries lack.
        case whole = 2
        /// SHT_DYNSYM, the symbols that the loader needs.
        case dynamic = 11
    }

    /// Returns the symbol table of a kind and the table of its names; a library has at most one of each kind.
    func symbolTable(_ kind: SymbolTable) -> (range: Range<Int>, names: ELFNames)? {
        guard let table = sections.first(where: { $0.type == kind.rawValue }), Int(table.link) < sections.count else {
            return nil
        }
        return (table.range, ELFNames(bytes, sections[Int(table.link)].range))
    }

    /// Calls `body` with each entry of a table and the table of its names; unreadable entries are omitted.
    func forEachSymbol(in kind: SymbolTable, _ body: (SymbolEntry, ELFNames) -> Void) {
        guard let (range, names) = symbolTable(kind) else { return }
        let reader = ELFReader(bytes)
        for offset in stride(from: range.lowerBound, through: range.upperBound - 24, by: 24) {
            guard let entry = try? SymbolEntry(reader, at: UInt64(offset)) else { continue }
            if (try? names.require(entry.name)) != nil { body(entry, names) }
        }
    }

    /// A Boolean value that indicates whether the image has only the symbols that the loader needs.
    package var isStripped: Bool { !sections.contains { $0.type == SymbolTable.whole.rawValue } }
}

extension ELFImage.SymbolEntry {
    fileprivate init(_ reader: ELFReader, at offset: UInt64) throws(ELFImage.Defect) {
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
        name = try reader.uint32(offset)
    }
}
