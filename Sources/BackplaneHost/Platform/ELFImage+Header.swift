extension ELFImage {
    /// The file header.
    struct Header {
        /// The offsets of the tables in the file.
        let segments, sections: UInt64
        private let rawSegmentCount, rawSectionCount, rawNameSection: UInt16

        init(_ reader: ELFReader) throws(Defect) {
            guard reader.isText("\u{7F}ELF", at: 0) else { throw .notELF }
            try reader.require(0, 64, "the file header")
            try Self.checkMachine(reader)
            let type = try reader.uint16(16)
            guard type == 3 /* ET_DYN */ else { throw .notLibrary(type: type) }
            segments = try reader.uint64(32)
            sections = try reader.uint64(40)
            rawSegmentCount = try reader.uint16(56)
            rawSectionCount = try reader.uint16(60)
            rawNameSection = try reader.uint16(62)
            guard rawSegmentCount > 0 else { throw .damaged("it has no segments") }
            guard try reader.uint16(54) == 56 else { throw .damaged("its segment entries have an unknown size") }
            if sections == 0 { return }
            guard try reader.uint16(58) == 64 else { throw .damaged("its section entries have an unknown size") }
            try reader.require(sections, 64, "the table of sections")
        }

        private static func checkMachine(_ reader: ELFReader) throws(Defect) {
            guard try reader.uint8(4) == 2 else { throw .wrongMachine(found: "32-bit") }
            guard try reader.uint8(5) == 1 else { throw .wrongMachine(found: "big-endian") }
            let machine = try reader.uint16(18)
            guard machine == ELFImage.machine.number else {
                throw .wrongMachine(found: ELFImage.name(ofMachine: machine))
            }
        }

        // With extended numbering, a count or an index that does not fit into 16 bits is in the first section entry.

        func segmentCount(_ reader: ELFReader) throws(Defect) -> UInt64 {
            rawSegmentCount == 0xFFFF && sections != 0
                ? UInt64(try reader.uint32(sections + 44)) : UInt64(rawSegmentCount)
        }

        func sectionCount(_ reader: ELFReader) throws(Defect) -> UInt64 {
            if sections == 0 { return 0 }
            return rawSectionCount == 0 ? try reader.uint64(sections + 32) : UInt64(rawSectionCount)
        }

        func nameSection(_ reader: ELFReader) throws(Defect) -> UInt64 {
            rawNameSection == 0xFFFF ? UInt64(try reader.uint32(sections + 40)) : UInt64(rawNameSection)
        }
    }
}

/// The names of processors by their number in `e_machine`.
extension ELFImage {
    /// The processor that this process was compiled for.
    package static var machine: (number: UInt16, name: String) {
        #if arch(x86_64)
        (62, "x86-64")
        #elseif arch(arm64)
        (183, "aarch64")
        #else
        #error("the ELF machine number of this processor is not known here")
        #endif
    }

    static func name(ofMachine number: UInt16) -> String {
        switch number {
        case 3: "x86 (32-bit)"
        case 40: "ARM (32-bit)"
        case 62: "x86-64"
        case 183: "aarch64"
        case 243: "RISC-V"
        default: "machine number \(number)"
        }
    }
}
