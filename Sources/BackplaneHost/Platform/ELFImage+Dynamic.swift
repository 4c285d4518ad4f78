extension ELFImage {
    /// What a library asks of the loader.
    package struct Demands: Sendable {
        /// The libraries that are loaded with it, by the names it gives them.
        package var needed: [String] = []
        /// Functions that run when it is loaded, by their symbols; one without a symbol by its address.
        package var initialisers: [String] = []
        /// Its code is written to when it is loaded.
        package var relocatesText = false
        /// It wants a stack that code can run on.
        package var hasExecutableStack = false
        /// Some of its memory can be written to and run.
        package var hasWritableCode = false
    }

    /// Reads them from the image's dynamic section; only of an image of which every byte is known.
    package func demands() throws(Problem) -> Demands {
        let segments = try segments(), dynamic = try DynamicSection(segments, ELFReader(bytes)), names = SymbolNames(self)
        var demands = Demands()
        demands.needed = try dynamic.needed()
        demands.initialisers = try dynamic.initialisers().map { names[$0.address] ?? $0.symbol ?? "0x" + String($0.address, radix: 16) }
        demands.relocatesText = dynamic.relocatesText
        demands.hasExecutableStack = segments.contains { $0.type == Segment.stack && $0.flags & Segment.executable != 0 }
        demands.hasWritableCode = segments.contains {
            $0.type == Segment.load && $0.flags & (Segment.executable | Segment.writable) == Segment.executable | Segment.writable
        }
        return demands
    }
}

/// The loader's table of contents, tags and values.
private struct DynamicSection {
    private enum Tag {
        static let needed: UInt64 = 1, texts: UInt64 = 5, relocations: UInt64 = 7, relocationsSize: UInt64 = 8, textsSize: UInt64 = 10
        static let initialiser: UInt64 = 12, relocatesText: UInt64 = 22, initialisers: UInt64 = 25, initialisersSize: UInt64 = 27, flags: UInt64 = 30
    }
    private let reader: ELFReader
    private let segments: [ELFImage.Segment]
    private var entries: [(tag: UInt64, value: UInt64)] = []

    init(_ segments: [ELFImage.Segment], _ reader: ELFReader) throws(ELFImage.Problem) {
        (self.segments, self.reader) = (segments, reader)
        guard let range = segments.first(where: { $0.type == ELFImage.Segment.dynamic })?.range else { return }
        for offset in stride(from: range.lowerBound, through: range.upperBound - 16, by: 16) {
            let tag = try reader.uint64(UInt64(offset))
            if tag == 0 { break }
            entries.append((tag, try reader.uint64(UInt64(offset) + 8)))
        }
    }

    private subscript(_ tag: UInt64) -> UInt64? { entries.first { $0.tag == tag }?.value }

    func needed() throws(ELFImage.Problem) -> [String] {
        guard let start = self[Tag.texts].flatMap({ segments.offset(of: $0) }), let size = self[Tag.textsSize] else { return [] }
        let texts = try reader.require(start, size, "the table of the loader's texts")
        var names: [String] = []
        for entry in entries where entry.tag == Tag.needed { names.append(try reader.text(at: entry.value, in: texts)) }
        return names
    }

    var relocatesText: Bool { self[Tag.relocatesText] != nil || (self[Tag.flags] ?? 0) & 4 /* DF_TEXTREL */ != 0 }

    /// Where the functions begin; what a relocation gives by a symbol of its own table has no address here.
    func initialisers() throws(ELFImage.Problem) -> [(address: UInt64, symbol: String?)] {
        var found: [(address: UInt64, symbol: String?)] = []
        if let single = self[Tag.initialiser] { found.append((single, nil)) }
        guard let table = self[Tag.initialisers], let size = self[Tag.initialisersSize], size < 1 << 20, table < .max - size else { return found }
        let relocated = try addends(in: table..<table + size)
        for place in stride(from: table, to: table + size, by: 8) {
            guard let offset = segments.offset(of: place) else { continue }
            let address = if let addend = relocated[place] { addend } else { try reader.uint64(offset) }
            found.append((address, address == 0 ? "another library's function" : nil))
        }
        return found
    }

    /// What the loader writes to places of a table, before it adds the library's base.
    private func addends(in table: Range<UInt64>) throws(ELFImage.Problem) -> [UInt64: UInt64] {
        guard let start = self[Tag.relocations].flatMap({ segments.offset(of: $0) }), let size = self[Tag.relocationsSize] else { return [:] }
        let range = try reader.require(start, size, "the table of relocations")
        var addends: [UInt64: UInt64] = [:]
        for entry in stride(from: range.lowerBound, through: range.upperBound - 24, by: 24) {
            let place = try reader.uint64(UInt64(entry))
            if table.contains(place) { addends[place] = try reader.uint64(UInt64(entry) + 16) }
        }
        return addends
    }
}
