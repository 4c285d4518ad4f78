/// A shared library's bytes, read by the rules of the ELF format and never trusted.
///
/// Made only of an image that is whole and for this machine: the headers, every segment and every section lie inside the
/// file, so that a library which lost its tail, or is still being written, is noticed. A value, and no part of it runs.
///
/// Layouts and numbers are those of the System V ABI, chapters 4 and 5 (`elf.h`).
package struct ELFImage: Sendable {
    let bytes: MappedBytes
    let sections: [Section]

    /// Reads the image.
    ///
    /// - Throws: ``Problem``, the first that was found.
    package init(_ bytes: [UInt8]) throws(Problem) {
        try self.init(MappedBytes(copying: bytes))
    }

    init(_ bytes: MappedBytes) throws(Problem) {
        self.bytes = bytes
        let reader = ELFReader(bytes)
        let header = try Header(reader)
        try Self.checkSegments(header, reader)
        sections = try Self.sections(header, reader)
    }

    /// The bytes of the section called `name`; `nil` where there is none, or none with bytes in the file.
    package func section(named name: String) -> [UInt8]? {
        range(ofSection: name).map { bytes.withBytes(in: $0) { Array($0) } }
    }

    /// Where they lie.
    func range(ofSection name: String) -> Range<Int>? {
        sections.first { $0.name == name && $0.isInFile }?.range
    }
}

extension ELFImage {
    /// Why bytes are not an image that this process can load.
    package enum Problem: Error, Sendable, Hashable {
        /// Not ELF at all.
        case notELF
        /// ELF, but not a shared library: its type as in `e_type`.
        case notLibrary(type: UInt16)
        /// For another processor, word size or byte order.
        case wrongMachine(found: String)
        /// Cut off, or never written completely: what is missing.
        case damaged(String)
    }
}

/// Segments: what the loader maps.
extension ELFImage {
    private static func checkSegments(_ header: Header, _ reader: ELFReader) throws(Problem) {
        let count = try header.segmentCount(reader)
        try reader.require(header.segments, count: count, each: 56, "the table of \(count) segments")
        for number in 0..<count {
            let entry = header.segments + UInt64(number) * 56
            let isLoaded = try reader.uint32(entry) == 1 // PT_LOAD
            let (sizeInFile, sizeInMemory) = (try reader.uint64(entry + 32), try reader.uint64(entry + 40))
            try reader.require(reader.uint64(entry + 8), sizeInFile, "segment \(number)")
            guard !isLoaded || sizeInFile <= sizeInMemory else {
                throw .damaged("segment \(number) is larger in the file than in memory")
            }
        }
    }
}
