extension ELFImage {
    /// An entry of the section table.
    struct Section: Sendable {
        let name: String
        let type: UInt32
        /// The range of its bytes in the file; empty if ``isInFile`` is false.
        let range: Range<Int>
        /// The number of the section with the names, for a symbol table.
        let link: UInt32

        /// A Boolean value that indicates whether the section has bytes in the file.
        ///
        /// SHT_NULL has none at all, SHT_NOBITS only memory.
        var isInFile: Bool { type != 0 && type != 8 }
    }

    static func sections(_ header: Header, _ reader: ELFReader) throws(Problem) -> [Section] {
        let count = try header.sectionCount(reader)
        guard count > 0 else { return [] }
        try reader.require(header.sections, count: count, each: 64, "the table of \(count) sections")
        let names = try nameTable(header, reader, count: count)
        var sections: [Section] = []
        for number in 0..<count {
            let entry = header.sections + number * 64
            sections.append(
                Section(
                    name: try reader.text(at: UInt64(try reader.uint32(entry)), in: names),
                    type: try reader.uint32(entry + 4),
                    range: try range(of: number, at: entry, reader),
                    link: try reader.uint32(entry + 40)))
        }
        return sections
    }

    /// Returns the range of the section names; linkers write that table last, so a missing one means an unfinished
    /// file.
    private static func nameTable(_ header: Header, _ reader: ELFReader, count: UInt64) throws(Problem) -> Range<Int> {
        let number = try header.nameSection(reader)
        guard number < count else { throw .damaged("the names of its sections are missing") }
        let entry = header.sections + number * 64
        guard try reader.uint32(entry + 4) == 3 /* SHT_STRTAB */ else {
            throw .damaged("the names of its sections are missing")
        }
        return try range(of: number, at: entry, reader)
    }

    private static func range(of number: UInt64, at entry: UInt64, _ reader: ELFReader) throws(Problem) -> Range<Int> {
        let type = try reader.uint32(entry + 4)
        guard type != 0 && type != 8 else { return 0..<0 }
        return try reader.require(reader.uint64(entry + 24), reader.uint64(entry + 32), "section \(number)")
    }
}
