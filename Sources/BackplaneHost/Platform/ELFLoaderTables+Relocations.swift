/// The relocations: locations in the library to which the loader writes addresses.
extension ELFLoaderTables {
    /// The maximum distance between two addresses of one library.
    private static let farthest: UInt64 = 1 << 30

    func checkRelocations(_ symbols: Symbols) throws(ELFImage.Defect) {
        var functions = try ELFFunctionArrays(self)
        if let address = dynamic[Tag.relocations] {
            try require(Tag.relocationSize, is: 24, "size of a relocation")
            let size = try require(Tag.relocationsSize, "size of its table of relocations")
            try check(
                address, size, "relocation", relative: dynamic[Tag.relativeCount] ?? 0, symbols, &functions)
        }
        if let address = dynamic[Tag.lazyRelocations] {
            try require(Tag.lazyRelocationKind, is: 7, "kind of its relocations of calls")
            let size = try require(Tag.lazyRelocationsSize, "size of its table of relocations of calls")
            try check(address, size, "relocation of calls", relative: 0, symbols, &functions)
        }
        try checkPacked(&functions)
        try functions.requireRelocated()
    }

    /// Checks a table of relocations, each with a location, a kind, a symbol and an addend.
    ///
    /// - Parameter relative: The number of relocations at the beginning that the loader treats as relative.
    private func check(
        _ address: UInt64, _ size: UInt64, _ what: String, relative: UInt64, _ symbols: Symbols,
        _ functions: inout ELFFunctionArrays
    ) throws(ELFImage.Defect) {
        if size == 0 { return }
        let range = try memory.bytes(at: address, size, "the table of \(what)s")
        guard range.count % 24 == 0 else { throw .misleading("the table of \(what)s has \(size) bytes") }
        guard relative <= size / 24 else {
            throw .misleading("\(relative) of its \(size / 24) relocations are declared relative")
        }
        // Writing to code needs a library that says so.
        let flags = dynamic.relocatesText ? 0 : Segment.writable
        try reader.bytes.withBytes(in: symbols.range) { symbols throws(ELFImage.Defect) in
            try reader.bytes.withBytes(in: range) { table throws(ELFImage.Defect) in
                for number in 0..<table.count / 24 {
                    let relocation = Relocation(table, number, what)
                    let kind = try relocation.requireKind(isRelative: UInt64(number) < relative)
                    if kind == .nothing { continue }
                    try checkPlace(of: relocation, kind, flags)
                    let isFunction = functions.relocate(relocation.place)
                    let symbol = try relocation.symbol(symbols)
                    try checkTarget(of: relocation, kind, symbol, isFunction)
                }
            }
        }
    }

    private func checkPlace(of relocation: Relocation, _ kind: ELFRelocationKind, _ flags: UInt32)
        throws(ELFImage.Defect)
    {
        guard memory.has(relocation.place, kind.bytes, flags) else {
            throw .misleading("\(relocation) writes to address \(hex(relocation.place)), outside its writable memory")
        }
        // The loader continues to read there.
        guard let segment = dynamic.segment,
            relocation.place >= segment.address + UInt64(segment.range.count)
                || relocation.place + kind.bytes <= segment.address
        else {
            throw .misleading("\(relocation) writes to address \(hex(relocation.place)), in its dynamic section")
        }
    }

    private func checkTarget(
        of relocation: Relocation, _ kind: ELFRelocationKind, _ symbol: Symbol?, _ isFunction: Bool
    ) throws(ELFImage.Defect) {
        switch kind {
        case .nothing, .size: return
        case .relative:
            guard
                isFunction
                    ? memory.has(relocation.addend, 1, Segment.executable) : memory.reaches(stored: relocation.addend)
            else { throw relocation.outside(relocation.addend, isFunction ? "code" : "memory") }
        case .chooser:
            guard memory.has(relocation.addend, 1, Segment.executable) else {
                throw relocation.outside(relocation.addend, "code")
            }
        case .address:
            if let symbol, symbol.isAddress {
                let target = symbol.value &+ relocation.addend
                guard memory.reaches(stored: target) else { throw relocation.outside(target, "memory") }
            } else if relocation.addend.magnitudeOfSigned > Self.farthest {
                throw .misleading(
                    "\(relocation) adds \(Int64(bitPattern: relocation.addend)) to the address of a symbol")
            }
        case .threadLocalLibrary, .threadLocalOffset:
            // A variable of another library has a symbol, which is not defined.
            if let symbol, symbol.section == 0 { return }
            guard let size = threadLocalSize else {
                throw .misleading("\(relocation) refers to a thread-local variable, and the library has none")
            }
            if kind == .threadLocalLibrary { return }
            let offset = (symbol?.value ?? 0) &+ relocation.addend
            guard offset <= size else {
                throw .misleading("\(relocation) refers to byte \(offset) of the \(size) of its thread-local variables")
            }
        }
    }

    /// Checks the relocations of `DT_RELR`, all of which are relative, with the addends at their locations.
    ///
    /// An even word is a location; an odd word has a bit for each of the 63 words after the last location. The
    /// locations are in ascending order.
    private func checkPacked(_ functions: inout ELFFunctionArrays) throws(ELFImage.Defect) {
        guard let address = dynamic[Tag.packedRelocations] else { return }
        try require(Tag.packedRelocationSize, is: 8, "size of a packed relocation")
        let size = try require(Tag.packedRelocationsSize, "size of its table of packed relocations")
        if size == 0 { return }
        let range = try memory.bytes(at: address, size, "the table of packed relocations")
        guard size % 8 == 0 else { throw .misleading("the table of packed relocations has \(size) bytes") }
        let flags = dynamic.relocatesText ? 0 : Segment.writable
        var next: UInt64?
        for offset in stride(from: range.lowerBound, through: range.upperBound - 8, by: 8) {
            let word = try reader.uint64(UInt64(offset)), number = (offset - range.lowerBound) / 8
            let places: [UInt64]
            if word & 1 == 0 {
                guard word >= next ?? 0, word < memory.pages.upperBound else {
                    throw .misleading(
                        "packed relocation \(number) writes to address \(hex(word)), out of order or outside its memory"
                    )
                }
                (places, next) = ([word], word + 8)
            } else {
                guard let first = next else { throw .misleading("its packed relocations do not begin with a place") }
                places = (0..<63).filter { word >> ($0 + 1) & 1 == 1 }.map { first + UInt64($0) * 8 }
                next = first + 63 * 8
            }
            for place in places {
                guard memory.has(place, 8, flags) else {
                    throw .misleading(
                        "packed relocation \(number) writes to address \(hex(place)), outside its writable memory")
                }
                let target =
                    try segments.offset(of: place).map { offset throws(ELFImage.Defect) in try reader.uint64(offset) }
                    ?? 0
                let isFunction = functions.relocate(place)
                guard isFunction ? memory.has(target, 1, Segment.executable) : memory.reaches(stored: target) else {
                    throw .misleading(
                        "packed relocation \(number) refers to address \(hex(target)), outside its \(isFunction ? "code" : "memory")"
                    )
                }
            }
        }
    }

    /// An entry of a table of relocations.
    private struct Relocation: CustomStringConvertible {
        let place, addend: UInt64
        let kindNumber, symbolNumber: UInt32
        private let what: String, number: Int

        var description: String { "\(what) \(number)" }

        init(_ table: UnsafeRawBufferPointer, _ number: Int, _ what: String) {
            (place, addend) = (table.number(number * 24), table.number(number * 24 + 16))
            (kindNumber, symbolNumber) = (table.number(number * 24 + 8), table.number(number * 24 + 12))
            (self.what, self.number) = (what, number)
        }

        func requireKind(isRelative: Bool) throws(ELFImage.Defect) -> ELFRelocationKind {
            guard let kind = ELFRelocationKind(kindNumber) else {
                throw .misleading("\(self) has kind \(kindNumber), which is not one of a library for this machine")
            }
            guard !isRelative || kind == .relative else {
                throw .misleading("\(self) has kind \(kindNumber), but is declared relative")
            }
            return kind
        }

        /// Returns the relocation's symbol; `nil` for symbol 0, which represents none.
        func symbol(_ symbols: UnsafeRawBufferPointer) throws(ELFImage.Defect) -> Symbol? {
            if symbolNumber == 0 { return nil }
            guard Int(symbolNumber) < symbols.count / 24 else {
                throw .misleading("\(self) refers to symbol \(symbolNumber), and there are \(symbols.count / 24)")
            }
            return Symbol(symbols, at: Int(symbolNumber) * 24)
        }

        func outside(_ address: UInt64, _ what: String) -> ELFImage.Defect {
            .misleading("\(self) refers to address \(hex(address)), outside its \(what)")
        }
    }
}

extension UInt64 {
    /// The magnitude of the signed number with the same bits.
    fileprivate var magnitudeOfSigned: UInt64 { Int64(bitPattern: self).magnitude }
}
