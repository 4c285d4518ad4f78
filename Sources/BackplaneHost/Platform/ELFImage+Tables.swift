extension ELFImage {
    /// Creates an image from a file's headers and their names, reading some kilobytes rather than many megabytes.
    ///
    /// The image is checked like any other, but the bytes of its sections are zero.
    ///
    /// - Throws: ``Defect``, or a ``SystemError`` if the file cannot be read.
    init(tablesOf file: borrowing FileDescriptor, size: Int) throws {
        let bytes = try MappedBytes(zeros: size), reader = ELFReader(bytes)
        try bytes.read(0..<min(size, 64), of: file)
        let header = try Header(reader)
        if header.sections != 0 {
            // The first entry comes first, because the counts may be there.
            try bytes.read(reader.require(header.sections, 64, "the table of sections"), of: file)
            let count = try header.sectionCount(reader), number = try header.nameSection(reader)
            let table = try reader.require(header.sections, count: count, each: 64, "the table of \(count) sections")
            try bytes.read(table, of: file)
            if number < count {
                let entry = header.sections + number * 64
                let names = try reader.require(
                    reader.uint64(entry + 24), reader.uint64(entry + 32), "section \(number)")
                try bytes.read(names, of: file)
            }
        }
        let count = try header.segmentCount(reader)
        let table = try reader.require(header.segments, count: count, each: 56, "the table of \(count) segments")
        try bytes.read(table, of: file)
        try self.init(bytes)
    }
}
