import Glibc

/// The memory of an image: its loaded segments at their addresses, before the loader adds the library's base.
struct ELFMemory {
    /// A loaded segment.
    struct Part {
        let addresses: Range<UInt64>
        /// The range in the file of the initial bytes; the remaining ones are zero.
        let bytes: Range<Int>
        let flags: UInt32
    }

    /// The segments, in ascending order of address.
    let parts: [Part]
    /// The addresses from the first page to the last, some of which may not belong to any segment.
    let pages: Range<UInt64>
    let pageSize: UInt64

    /// The first address beyond the address space of any process.
    private static let limit: UInt64 = 1 << 47

    /// Creates the memory of the loaded segments among `segments`.
    ///
    /// The loader reserves memory from the address of the first segment to the end of the last, so a segment out of
    /// order would replace other memory of the process.
    init(_ segments: [ELFImage.Segment], pageSize: UInt64 = UInt64(getpagesize())) throws(ELFImage.Defect) {
        var parts: [Part] = []
        for (number, segment) in segments.enumerated()
        where segment.type == ELFImage.Segment.load && segment.sizeInMemory > 0 {
            let (end, isBeyond) = segment.address.addingReportingOverflow(segment.sizeInMemory)
            guard !isBeyond, end <= Self.limit else {
                throw .misleading("segment \(number) lies at \(hex(segment.address)), outside any process's memory")
            }
            guard parts.last.map({ $0.addresses.upperBound <= segment.address }) ?? true else {
                throw .misleading("segment \(number) at \(hex(segment.address)) does not follow the previous one")
            }
            parts.append(Part(addresses: segment.address..<end, bytes: segment.range, flags: segment.flags))
        }
        guard let first = parts.first, let last = parts.last else {
            throw .misleading("it has no segment that is loaded")
        }
        self.parts = parts
        self.pageSize = pageSize
        let start = first.addresses.lowerBound / pageSize * pageSize
        pages = start..<(last.addresses.upperBound + pageSize - 1) / pageSize * pageSize
    }

    /// Returns the end of the last page of a segment.
    func lastPageEnd(of part: Part) -> UInt64 { (part.addresses.upperBound + pageSize - 1) / pageSize * pageSize }

    /// Returns the segment with all of `count` bytes at an address.
    func part(at address: UInt64, _ count: UInt64) -> Part? {
        var low = 0, high = parts.count
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].addresses.upperBound < address { low = middle + 1 } else { high = middle }
        }
        // An address between two segments that touch belongs to both if there are no bytes.
        for part in parts[low...].prefix(2) where part.addresses.lowerBound <= address {
            if address <= part.addresses.upperBound, count <= part.addresses.upperBound - address { return part }
        }
        return nil
    }

    /// Returns whether one segment with all of `flags` has `count` bytes at an address.
    func has(_ address: UInt64, _ count: UInt64, _ flags: UInt32 = 0) -> Bool {
        part(at: address, count).map { $0.flags & flags == flags } ?? false
    }

    /// Returns whether an address, and `count` bytes there, are in the image's pages, whose end counts as an address.
    func reaches(_ address: UInt64, _ count: UInt64 = 0) -> Bool {
        address >= pages.lowerBound && address <= pages.upperBound && count <= pages.upperBound - address
    }

    /// Returns whether an address in data is in the image's pages.
    ///
    /// The highest bit may be set: it marks the storage of `String` values that lives as long as the process.
    func reaches(stored address: UInt64) -> Bool { reaches(address & ~(1 << 63)) }

    /// Returns the range in the file of `count` bytes at an address, which must be in one segment.
    func bytes(at address: UInt64, _ count: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Defect)
        -> Range<Int>
    {
        let rest = try bytes(from: address, what())
        guard count <= UInt64(rest.count) else {
            throw .misleading("\(what()) at \(hex(address)) has \(count) bytes, of which only \(rest.count) are loaded")
        }
        return rest.prefix(Int(count)).indices
    }

    /// Returns the range in the file from an address to the end of its segment.
    func bytes(from address: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Defect) -> Range<Int> {
        guard let part = part(at: address, 1), address - part.addresses.lowerBound <= UInt64(part.bytes.count) else {
            throw .misleading("\(what()) lies at \(hex(address)), outside its memory")
        }
        return part.bytes.dropFirst(Int(address - part.addresses.lowerBound)).indices
    }
}

/// Returns an address as text for messages.
func hex(_ address: UInt64) -> String { "0x" + String(address, radix: 16) }
