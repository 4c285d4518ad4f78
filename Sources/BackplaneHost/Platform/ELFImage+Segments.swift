import Glibc

extension ELFImage {
    /// An entry of the program header table: a range of the file with a purpose for the loader or for tools.
    struct Segment {
        let type, flags: UInt32
        /// The range of its bytes in the file.
        let range: Range<Int>
        /// The address at which the loader places the bytes, before it adds the library's base.
        let address: UInt64
        let sizeInMemory, alignment: UInt64

        /// The maximum number of segments; linkers create about a dozen, and each address lookup searches all of them.
        static let most = 256

        static let load: UInt32 = 1, dynamic: UInt32 = 2, notes: UInt32 = 4, table: UInt32 = 6, threadLocal: UInt32 = 7
        static let unwinding: UInt32 = 0x6474_E550, stack: UInt32 = 0x6474_E551, constants: UInt32 = 0x6474_E552,
            properties: UInt32 = 0x6474_E553
        static let executable: UInt32 = 1, writable: UInt32 = 2

        /// The default of glibc for executable stacks in a process with a library without a ``stack`` segment.
        #if arch(x86_64)
        static let stacksAreExecutable = true
        #else
        static let stacksAreExecutable = false
        #endif
    }

    func segments() throws(Defect) -> [Segment] {
        let reader = ELFReader(bytes), header = try Header(reader)
        var segments: [Segment] = []
        for number in 0..<(try header.segmentCount(reader)) {
            let entry = header.segments + number * 56
            segments.append(
                Segment(
                    type: try reader.uint32(entry), flags: try reader.uint32(entry + 4),
                    range: try reader.require(reader.uint64(entry + 8), reader.uint64(entry + 32), "segment \(number)"),
                    address: try reader.uint64(entry + 16), sizeInMemory: try reader.uint64(entry + 40),
                    alignment: try reader.uint64(entry + 48)))
        }
        return segments
    }
}

extension ELFImage {
    /// Returns the pages of the file that no segment maps, such as symbols, debug information and tables for tools.
    func unmapped(pageSize: Int = Int(getpagesize())) throws(Defect) -> [Range<Int>] {
        let mapped = try segments().filter { $0.type == Segment.load }.map {
            $0.range.lowerBound / pageSize * pageSize..<($0.range.upperBound + pageSize - 1) / pageSize * pageSize
        }
        return mapped.gaps(upTo: bytes.count)
    }
}

extension [Range<Int>] {
    /// Returns the ranges between, before and after ranges of a file, which are in ascending order and may overlap.
    func gaps(upTo size: Int) -> [Range<Int>] {
        var gaps: [Range<Int>] = [], end = 0
        for next in sorted(by: { $0.lowerBound < $1.lowerBound }) where !next.isEmpty {
            if end < next.lowerBound { gaps.append(end..<next.lowerBound) }
            end = Swift.max(end, next.upperBound)
        }
        return end < size ? gaps + [end..<size] : gaps
    }
}

extension [ELFImage.Segment] {
    /// Returns the file offset of the byte that the loader places at `address`; `nil` if there is none.
    func offset(of address: UInt64) -> UInt64? {
        for segment in self where segment.type == ELFImage.Segment.load && address >= segment.address {
            let distance = address - segment.address
            if distance < UInt64(segment.range.count) { return UInt64(segment.range.lowerBound) + distance }
        }
        return nil
    }

    /// Returns the address at which the loader places the byte at a file offset; `nil` if no segment maps it.
    func address(of offset: Int) -> UInt64? {
        first { $0.type == ELFImage.Segment.load && $0.range.contains(offset) }
            .map { $0.address &+ UInt64(offset - $0.range.lowerBound) }
    }
}
