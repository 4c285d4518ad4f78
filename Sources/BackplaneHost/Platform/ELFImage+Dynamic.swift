extension ELFImage {
    /// The requirements of a library that the loader fulfils.
    package struct Demands: Sendable {
        /// The libraries that are loaded with it, by the names that it uses for them.
        package var needed: [String] = []
        /// The functions that run when it is loaded, by symbol, or by address if there is none.
        package var initialisers: [String] = []
        /// The functions that run during loading to select other functions (`ifunc`).
        package var choosers: [String] = []
        /// A Boolean value that indicates whether it was linked with C start files, which include `DT_INIT`.
        package var hasStartFiles = false
        /// A Boolean value that indicates whether the loader writes to its code.
        package var relocatesText = false
        /// A Boolean value that indicates whether the system provides it with an executable stack.
        ///
        /// This is the case if the library requires one, or does not exclude it on a system where it is the default.
        package var hasExecutableStack = false
        /// A Boolean value that indicates whether some of its memory is both writable and executable.
        package var hasWritableCode = false
    }

    /// Returns the requirements in the image's dynamic section; the caller must have every byte of the image.
    package func demands() throws(Defect) -> Demands {
        let segments = try segments(), dynamic = try ELFDynamicSection(segments, ELFReader(bytes)),
            names = SymbolNames(self)
        var demands = Demands()
        demands.needed = try dynamic.needed()
        demands.initialisers = try dynamic.initialisers().prefix(Self.mostListed).map {
            names[$0.address] ?? $0.symbol ?? "0x" + String($0.address, radix: 16)
        }
        demands.choosers = try dynamic.choosers().prefix(Self.mostListed).map {
            names[$0] ?? "0x" + String($0, radix: 16)
        }
        demands.hasStartFiles = dynamic.hasInitialiser
        demands.relocatesText = dynamic.relocatesText
        let stack = segments.first { $0.type == Segment.stack }
        demands.hasExecutableStack = stack.map { $0.flags & Segment.executable != 0 } ?? Segment.stacksAreExecutable
        demands.hasWritableCode = segments.contains {
            $0.type == Segment.load
                && $0.flags & (Segment.executable | Segment.writable) == Segment.executable | Segment.writable
        }
        return demands
    }
}

extension ELFDynamicSection {
    fileprivate func needed() throws(ELFImage.Defect) -> [String] {
        guard let start = self[Tag.texts].flatMap({ segments.offset(of: $0) }), let size = self[Tag.textsSize] else {
            return []
        }
        let texts = ELFNames(reader.bytes, try reader.require(start, size, "the table of the loader's texts"))
        var names: [String] = []
        for entry in entries where entry.tag == Tag.needed && names.count < ELFImage.mostListed {
            names.append(try texts.text(at: UInt32(clamping: entry.value)))
        }
        return names
    }

    fileprivate var hasInitialiser: Bool { self[Tag.initialiser] != nil }

    /// Returns the addresses of the functions that run at load time, except where a relocation refers to a symbol.
    fileprivate func initialisers() throws(ELFImage.Defect) -> [(address: UInt64, symbol: String?)] {
        var found: [(address: UInt64, symbol: String?)] = []
        if let single = self[Tag.initialiser] { found.append((single, nil)) }
        guard let table = self[Tag.initialisers], let size = self[Tag.initialisersSize], size < 1 << 20,
            table < .max - size
        else { return found }
        let relocated = try addends(in: table..<table + size)
        for place in stride(from: table, to: table + size, by: 8) {
            guard let offset = segments.offset(of: place) else { continue }
            let address = if let addend = relocated[place] { addend } else { try reader.uint64(offset) }
            found.append((address, address == 0 ? "another library's function" : nil))
        }
        return found
    }

    /// Returns the addends that the loader adds to the library's base and writes to locations in a table.
    private func addends(in table: Range<UInt64>) throws(ELFImage.Defect) -> [UInt64: UInt64] {
        var addends: [UInt64: UInt64] = [:]
        for relocation in try relocations(Tag.relocations, Tag.relocationsSize) where table.contains(relocation.place) {
            addends[relocation.place] = relocation.addend
        }
        return addends
    }

    /// Returns the addresses of the functions that the loader calls to compute the values of relocations.
    fileprivate func choosers() throws(ELFImage.Defect) -> [UInt64] {
        let all =
            try relocations(Tag.relocations, Tag.relocationsSize)
            + relocations(Tag.lazyRelocations, Tag.lazyRelocationsSize)
        // R_X86_64_IRELATIVE, R_AARCH64_IRELATIVE.
        let addresses = all.filter { [37, 1_032].contains($0.kind) }.map(\.addend)
        return Set(addresses).sorted()
    }

    private func relocations(_ table: UInt64, _ size: UInt64) throws(ELFImage.Defect) -> [(
        place: UInt64, kind: UInt32, addend: UInt64
    )] {
        guard let start = self[table].flatMap({ segments.offset(of: $0) }), let size = self[size] else { return [] }
        let range = try reader.require(start, size, "the table of relocations")
        var relocations: [(place: UInt64, kind: UInt32, addend: UInt64)] = []
        for offset in stride(from: range.lowerBound, through: range.upperBound - 24, by: 24) {
            let entry = UInt64(offset)
            relocations.append((try reader.uint64(entry), try reader.uint32(entry + 8), try reader.uint64(entry + 16)))
        }
        return relocations
    }
}
