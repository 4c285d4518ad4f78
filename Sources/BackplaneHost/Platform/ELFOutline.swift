import Glibc

/// Where in a library's file its parts lie, so that it need not be read whole. Nothing is checked that ``ELFImage`` does not check.
struct ELFOutline {
    /// What neither the loader nor a check looks at, in its order: symbols and debug information, often three quarters of the file.
    ///
    /// The loader needs all up to the end of the last segment; the checks the table of sections, and the sections' names, too.
    let unneeded: [Range<Int>]
    private let sections: [ELFImage.Section]
    /// The file's beginning, the table of sections and their names.
    private let known: [(start: Int, bytes: [UInt8])]
    private let size: Int

    /// `nil`: the file does not say.
    init?(of file: borrowing FileDescriptor, size: Int) {
        do {
            // Every linker puts the table of segments right behind the header.
            let start = try file.bytes(in: 0..<min(size, 4_096)), reader = ELFReader(FileExcerpt([(0, start)], of: size))
            let header = try ELFImage.Header(reader), table = try header.sectionTable(reader)
            let entries = try file.bytes(in: table)
            let names = try ELFImage.nameTable(header, ELFReader(FileExcerpt([(table.lowerBound, entries)], of: size)), count: UInt64(table.count / 64))
            known = [(0, start), (table.lowerBound, entries), (names.lowerBound, try file.bytes(in: names))]
            sections = try ELFImage.sections(header, ELFReader(FileExcerpt(known, of: size)))
            unneeded = [0..<(try header.loadedEnd(reader)), table, names].gaps(upTo: size)
            self.size = size
        } catch {
            return nil
        }
    }

    /// What of the file ``ELFImage`` looks at: the tables, the exported symbols, and the section called `name`.
    func excerpt(of file: borrowing FileDescriptor, with name: String) throws(SystemError) -> FileExcerpt {
        let wanted = sections.filter { $0.type == 11 /* SHT_DYNSYM */ || $0.name == name }
        let linked = wanted.filter { $0.link > 0 && Int($0.link) < sections.count }.map { sections[Int($0.link)] }
        let ranges = (wanted + linked).map(\.range)
        // Thousands of sections may all say that they are the whole file.
        guard ranges.reduce(0, { $0 + $1.count }) <= size else { return FileExcerpt(try file.bytes(in: 0..<size)) }
        var stretches = known
        for range in ranges { stretches.append((range.lowerBound, try file.bytes(in: range))) }
        return FileExcerpt(stretches, of: size)
    }
}

extension [Range<Int>] {
    /// What lies between ranges of a file, and before and after them, in its order; they may overlap.
    func gaps(upTo size: Int) -> [Range<Int>] {
        var gaps: [Range<Int>] = [], end = 0
        for next in sorted(by: { $0.lowerBound < $1.lowerBound }) where !next.isEmpty {
            if end < next.lowerBound { gaps.append(end..<next.lowerBound) }
            end = Swift.max(end, next.upperBound)
        }
        return end < size ? gaps + [end..<size] : gaps
    }
}

extension ELFImage.Header {
    /// The end of what is loaded, at the end of a page, since what lies behind it in its last page is mapped too.
    fileprivate func loadedEnd(_ reader: ELFReader) throws(ELFImage.Problem) -> Int {
        var end = 0
        for number in 0..<(try segmentCount(reader)) {
            let entry = segments + number * 56
            guard try reader.uint32(entry) == 1 /* PT_LOAD */ else { continue }
            end = max(end, try reader.require(reader.uint64(entry + 8), reader.uint64(entry + 32), "segment \(number)").upperBound)
        }
        let page = Int(getpagesize())
        return min((end + page - 1) / page * page, reader.bytes.fileSize)
    }

    /// - Throws: also where there is none.
    fileprivate func sectionTable(_ reader: ELFReader) throws(ELFImage.Problem) -> Range<Int> {
        let count = try sectionCount(reader)
        guard (1...65_535).contains(count) else { throw .damaged("the table of sections is missing") }
        return try reader.require(sections, count * 64, "the table of sections")
    }
}
