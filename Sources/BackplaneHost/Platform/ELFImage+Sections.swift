extension ELFImage {
    /// An entry of the section table.
    struct Section: Sendable {
        /// The offset of its name in the table of section names.
        let name: UInt32
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

    /// Returns the sections, and the table of their names.
    static func sections(_ header: Header, _ reader: ELFReader) throws(Defect) -> ([Section], ELFNames) {
        let count = try header.sectionCount(reader)
        guard count > 0 else { return ([], ELFNames(reader.bytes, 0..<0)) }
        try reader.require(header.sections, count: count, each: 64, "the table of \(count) sections")
        let names = ELFNames(reader.bytes, try nameTable(header, reader, count: count))
        var sections: [Section] = []
        sections.reserveCapacity(Int(count))
        for number in 0..<count {
            let entry = header.sections + number * 64, name = try reader.uint32(entry)
            try names.require(name)
            sections.append(
                Section(
                    name: name,
                    type: try reader.uint32(entry + 4),
                    range: try range(of: number, at: entry, reader),
                    link: try reader.uint32(entry + 40)))
        }
        return (sections, names)
    }

    /// Returns the first section called `name` that has bytes in the file.
    func section(called name: String) -> Section? {
        sections.first { $0.isInFile && sectionNames.isName(name, at: $0.name) }
    }

    /// Returns the range of the section names; linkers write that table last, so a missing table means an unfinished
    /// file.
    private static func nameTable(_ header: Header, _ reader: ELFReader, count: UInt64) throws(Defect) -> Range<Int> {
        let number = try header.nameSection(reader)
        guard number < count else { throw .damaged("the names of its sections are missing") }
        let entry = header.sections + number * 64
        guard try reader.uint32(entry + 4) == 3 /* SHT_STRTAB */ else {
            throw .damaged("the names of its sections are missing")
        }
        return try range(of: number, at: entry, reader)
    }

    private static func range(of number: UInt64, at entry: UInt64, _ reader: ELFReader) throws(Defect) -> Range<Int> {
        let type = try reader.uint32(entry + 4)
        guard type != 0 && type != 8 else { return 0..<0 }
        return try reader.require(reader.uint64(entry + 24), reader.uint64(entry + 32), "section \(number)")
    }
}
