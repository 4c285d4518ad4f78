/// The dynamic symbols, whose values the loader uses as addresses.
extension ELFLoaderTables {
    /// The table of dynamic symbols.
    struct Symbols {
        let count: UInt64
        let range: Range<Int>
    }

    /// A dynamic symbol, as far as the loader uses it.
    struct Symbol {
        let name: UInt32
        let kind: UInt8
        let section: UInt16
        let value, size: UInt64

        /// Creates the symbol at an offset of the table, which the caller has checked.
        init(_ table: UnsafeRawBufferPointer, at offset: Int) {
            name = table.number(offset)
            kind = table.number(offset + 4, as: UInt8.self) & 0xF
            section = table.number(offset + 6)
            value = table.number(offset + 8)
            size = table.number(offset + 16)
        }

        static let function: UInt8 = 2, threadLocal: UInt8 = 6, chooser: UInt8 = 10

        /// A Boolean value that indicates whether its value is an address rather than a number (SHN_ABS).
        var isAddress: Bool { section != 0 && section != 0xFFF1 && kind != Self.threadLocal }
    }

    func symbols() throws(ELFImage.Defect) -> Symbols {
        try require(Tag.symbolSize, is: 24, "size of a symbol")
        let count = try symbolCount(), address = try require(Tag.symbols, "table of symbols")
        return Symbols(count: count, range: try memory.bytes(at: address, count * 24, "the table of symbols"))
    }

    /// Checks that names are in the table of names, code is in executable memory, and everything else is in the
    /// library.
    func checkSymbols(_ symbols: Symbols) throws(ELFImage.Defect) {
        try reader.bytes.withBytes(in: symbols.range) { table throws(ELFImage.Defect) in
            for number in 0..<Int(symbols.count) {
                let symbol = Symbol(table, at: number * 24)
                try requireName(UInt64(symbol.name), "the name of symbol \(number)")
                if symbol.section == 0 || symbol.section == 0xFFF1 { continue }
                let isInside =
                    switch symbol.kind {
                    case Symbol.threadLocal:
                        threadLocalSize.map { symbol.value <= $0 && symbol.size <= $0 - symbol.value } ?? false
                    case Symbol.function, Symbol.chooser:
                        memory.has(symbol.value, symbol.size, Segment.executable)
                    default: memory.reaches(symbol.value, symbol.size)
                    }
                guard isInside else {
                    let place =
                        switch symbol.kind {
                        case Symbol.threadLocal: "thread-local variables"
                        case Symbol.function, Symbol.chooser: "code"
                        default: "memory"
                        }
                    throw .misleading(
                        "symbol \(number) has \(symbol.size) bytes at \(hex(symbol.value)), outside its \(place)")
                }
            }
        }
    }
}
