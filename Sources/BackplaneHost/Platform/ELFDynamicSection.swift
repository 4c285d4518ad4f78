/// The dynamic section of a library: pairs of tag and value for the loader, read at their location in memory.
struct ELFDynamicSection {
    enum Tag {
        static let needed: UInt64 = 1, name: UInt64 = 14, path: UInt64 = 15, runPath: UInt64 = 29,
            auxiliary: UInt64 = 0x7FFF_FFFD, filter: UInt64 = 0x7FFF_FFFF
        static let texts: UInt64 = 5, textsSize: UInt64 = 10
        static let symbols: UInt64 = 6, symbolSize: UInt64 = 11, hash: UInt64 = 4, gnuHash: UInt64 = 0x6FFF_FEF5
        static let versions: UInt64 = 0x6FFF_FFF0, definedVersions: UInt64 = 0x6FFF_FFFC,
            neededVersions: UInt64 = 0x6FFF_FFFE
        static let relocations: UInt64 = 7, relocationsSize: UInt64 = 8, relocationSize: UInt64 = 9,
            relativeCount: UInt64 = 0x6FFF_FFF9
        static let packedRelocations: UInt64 = 36, packedRelocationsSize: UInt64 = 35,
            packedRelocationSize: UInt64 = 37
        static let lazyRelocations: UInt64 = 23, lazyRelocationsSize: UInt64 = 2, lazyRelocationKind: UInt64 = 20
        static let relocatesText: UInt64 = 22, flags: UInt64 = 30
        static let initialiser: UInt64 = 12, initialisers: UInt64 = 25, initialisersSize: UInt64 = 27
        static let finaliser: UInt64 = 13, finalisers: UInt64 = 26, finalisersSize: UInt64 = 28
    }

    let reader: ELFReader
    let segments: [ELFImage.Segment]
    /// The segment that contains the section; `nil` if there is none.
    let segment: ELFImage.Segment?
    private(set) var entries: [(tag: UInt64, value: UInt64)] = []
    /// A Boolean value that indicates whether the terminating entry was found.
    private(set) var hasEnd = false

    init(_ segments: [ELFImage.Segment], _ reader: ELFReader) throws(ELFImage.Defect) {
        (self.segments, self.reader) = (segments, reader)
        segment = segments.last { $0.type == ELFImage.Segment.dynamic }
        guard let segment, let start = segments.offset(of: segment.address) else { return }
        let range = try reader.require(start, UInt64(segment.range.count), "the dynamic section")
        for offset in stride(from: range.lowerBound, through: range.upperBound - 16, by: 16) {
            let tag = try reader.uint64(UInt64(offset))
            if tag == 0 {
                hasEnd = true
                break
            }
            entries.append((tag, try reader.uint64(UInt64(offset) + 8)))
        }
    }

    /// Returns the value of a tag; if there are several entries, the loader uses the last.
    subscript(_ tag: UInt64) -> UInt64? { entries.last { $0.tag == tag }?.value }

    /// A Boolean value that indicates whether the loader writes to code.
    var relocatesText: Bool { self[Tag.relocatesText] != nil || (self[Tag.flags] ?? 0) & 4 /* DF_TEXTREL */ != 0 }
}
