/// The bytes of a shared library, parsed as ELF without trusting them.
///
/// An image exists only for a library that is complete and built for this machine: the headers, all segments and all
/// sections are inside the file, so a truncated or half-written library is detected. No code of the library runs.
///
/// Layouts and numbers are those of the System V ABI, chapters 4 and 5 (`elf.h`).
package struct ELFImage: Sendable {
    let bytes: MappedBytes
    let sections: [Section]
    let sectionNames: ELFNames

    /// The maximum number of listed findings of one kind.
    static let mostListed = 1_000

    /// Creates an image from the bytes of a file.
    ///
    /// - Throws: ``Defect``, the first that was found.
    package init(_ bytes: [UInt8]) throws(Defect) {
        try self.init(MappedBytes(copying: bytes))
    }

    init(_ bytes: MappedBytes) throws(Defect) {
        self.bytes = bytes
        let reader = ELFReader(bytes)
        let header = try Header(reader)
        try Self.checkSegments(header, reader)
        (sections, sectionNames) = try Self.sections(header, reader)
    }

    /// Returns the bytes of the section called `name`; `nil` if there is none, or none with bytes in the file.
    package func section(named name: String) -> [UInt8]? {
        range(ofSection: name).map { bytes.withBytes(in: $0) { Array($0) } }
    }

    /// Returns the range in the file of the section called `name`; `nil` if it has none.
    func range(ofSection name: String) -> Range<Int>? {
        section(called: name)?.range
    }
}

extension ELFImage {
    /// The reasons why this process cannot load bytes as a library.
    package enum Defect: Error, Sendable, Hashable {
        /// Bytes that are not an ELF file.
        case notELF
        /// An ELF file that is not a shared library, with the type in `e_type`.
        case notLibrary(type: UInt16)
        /// A library for another processor, word size or byte order.
        case wrongMachine(found: String)
        /// A truncated or incomplete file, with a description of the missing part.
        case damaged(String)
        /// A complete file that makes the system's loader access memory outside the library, with a description of the
        /// cause.
        case misleading(String)
    }
}

/// The check of the segments, which the loader maps.
extension ELFImage {
    private static func checkSegments(_ header: Header, _ reader: ELFReader) throws(Defect) {
        let count = try header.segmentCount(reader)
        try reader.require(header.segments, count: count, each: 56, "the table of \(count) segments")
        guard count <= Segment.most else {
            throw .damaged("it has \(count) segments, and a library has at most \(Segment.most)")
        }
        for number in 0..<count {
            let entry = header.segments + UInt64(number) * 56
            let isLoaded = try reader.uint32(entry) == 1  // PT_LOAD
            let (sizeInFile, sizeInMemory) = (try reader.uint64(entry + 32), try reader.uint64(entry + 40))
            try reader.require(reader.uint64(entry + 8), sizeInFile, "segment \(number)")
            guard !isLoaded || sizeInFile <= sizeInMemory else {
                throw .damaged("segment \(number) is larger in the file than in memory")
            }
        }
    }
}
