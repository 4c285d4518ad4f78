import BackplaneHost

/// The bytes of a shared library of any size, of which only the tables are there.
struct GeneratedImage {
    private var bytes = [UInt8](repeating: 0, count: 64)
    private var sections: [(name: UInt32, type: UInt32, range: Range<Int>, link: UInt32)] = [(0, 0, 0..<0, 0)]
    private var segments: [(type: UInt32, range: Range<Int>)] = []
    private var names: [UInt8] = [0]

    /// Appends bytes, and returns where they are.
    mutating func append(_ part: [UInt8]) -> Range<Int> {
        while bytes.count % 8 != 0 { bytes.append(0) }
        bytes += part
        return bytes.count - part.count..<bytes.count
    }

    /// Appends numbers of eight bytes each.
    mutating func append(numbers: [UInt64]) -> Range<Int> {
        var part: [UInt8] = []
        for number in numbers {
            for index in 0..<8 { part.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
        }
        return append(part)
    }

    /// Adds a section, and returns its number.
    @discardableResult
    mutating func section(_ name: String, type: UInt32 = 1, _ range: Range<Int>, link: UInt32 = 0) -> UInt32 {
        names += Array(name.utf8) + [0]
        return section(named: UInt32(names.count - name.utf8.count - 1), type: type, range, link: link)
    }

    /// Adds a section whose name is at an offset of the table of names.
    @discardableResult
    mutating func section(named name: UInt32, type: UInt32 = 1, _ range: Range<Int>, link: UInt32 = 0) -> UInt32 {
        sections.append((name, type, range, link))
        return UInt32(sections.count - 1)
    }

    /// Makes the table of names longer by a name, and returns its offset.
    mutating func name(_ name: [UInt8]) -> UInt32 {
        names += name + [0]
        return UInt32(names.count - name.count - 1)
    }

    mutating func segment(type: UInt32, _ range: Range<Int>) { segments.append((type, range)) }

    /// Adds a dynamic section with symbols, a hash table of them (DT_GNU_HASH), one empty name and more entries.
    mutating func loaderTables(symbols: [UInt64], hash: [UInt64], _ entries: [UInt64]) {
        let texts = append([0]), symbols = append(numbers: symbols), hash = append(numbers: hash)
        let known: [UInt64] = [
            5, UInt64(texts.lowerBound), 10, 1, 6, UInt64(symbols.lowerBound), 11, 24,
            0x6FFF_FEF5, UInt64(hash.lowerBound),
        ]
        segment(type: 2, append(numbers: known + entries + [0, 0]))
    }

    /// A symbol table's entry for a visible function of the library.
    static func symbol(named name: Int, at address: UInt64 = 0x1000, size: UInt64 = 16) -> [UInt64] {
        [UInt64(name) | 0x12 << 32 | 1 << 48, address, size]
    }

    /// The whole file; every byte of it is loaded, at the address that is its offset, for every use.
    func file() -> [UInt8] {
        var image = self
        let names = image.append(image.names)
        let number = image.section(named: 0, type: 3, names)
        var sections: [UInt64] = [], segments: [UInt64] = []
        for section in image.sections {
            let (start, count) = (UInt64(section.range.lowerBound), UInt64(section.range.count))
            sections += [UInt64(section.name) | UInt64(section.type) << 32, 0, 0, start, count]
            sections += [UInt64(section.link), 1, 0]
        }
        let table = image.append(numbers: sections)
        let loaded = [(type: UInt32(1), range: 0..<table.upperBound)] + image.segments
        for segment in loaded {
            let (start, count) = (UInt64(segment.range.lowerBound), UInt64(segment.range.count))
            segments += [UInt64(segment.type) | 7 << 32, start, start, 0, count, count, 8]
        }
        let program = image.append(numbers: segments)
        // Counts and numbers that need more than 16 bits are in the first section.
        let count = image.sections.count, isExtended = count >= 0xFF00
        if isExtended {
            image.put(UInt64(count), at: table.lowerBound + 32, 8)
            image.put(UInt64(number), at: table.lowerBound + 40, 4)
        }
        image.put(0x0001_0102_464C_457F, at: 0, 8)
        image.put(3, at: 16, 2)
        image.put(UInt64(ELFImage.machine.number), at: 18, 2)
        image.put(1, at: 20, 4)
        image.put(UInt64(program.lowerBound), at: 32, 8)
        image.put(UInt64(table.lowerBound), at: 40, 8)
        image.put(64, at: 52, 2)
        image.put(56, at: 54, 2)
        image.put(UInt64(loaded.count), at: 56, 2)
        image.put(64, at: 58, 2)
        image.put(isExtended ? 0 : UInt64(count), at: 60, 2)
        image.put(isExtended ? 0xFFFF : UInt64(number), at: 62, 2)
        return image.bytes
    }

    private mutating func put(_ number: UInt64, at offset: Int, _ count: Int) {
        for index in 0..<count { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (index * 8)) }
    }
}
