import Glibc

extension ELFImage {
    /// A stretch of the file that the loader, or a tool, looks for by its kind.
    struct Segment {
        let type, flags: UInt32
        /// Where its bytes lie in the file.
        let range: Range<Int>
        /// Where the loader puts them, before it adds the library's base.
        let address: UInt64

        static let load: UInt32 = 1, dynamic: UInt32 = 2, stack: UInt32 = 0x6474_E551
        static let executable: UInt32 = 1, writable: UInt32 = 2

        /// Whether stacks are so in a process with a library that has no ``stack``: what glibc takes for each architecture.
        #if arch(x86_64)
        static let stacksAreExecutable = true
        #else
        static let stacksAreExecutable = false
        #endif
    }

    func segments() throws(Problem) -> [Segment] {
        let reader = ELFReader(bytes), header = try Header(reader)
        var segments: [Segment] = []
        for number in 0..<(try header.segmentCount(reader)) {
            let entry = header.segments + number * 56
            segments.append(
                Segment(
                    type: try reader.uint32(entry), flags: try reader.uint32(entry + 4),
                    range: try reader.require(reader.uint64(entry + 8), reader.uint64(entry + 32), "segment \(number)"),
                    address: try reader.uint64(entry + 16)))
        }
        return segments
    }
}

extension ELFImage {
    /// What of the file no segment maps, page by page: symbols, debug information and tables that only tools read.
    func unmapped(pageSize: Int = Int(getpagesize())) throws(Problem) -> [Range<Int>] {
        let mapped = try segments().filter { $0.type == Segment.load }.map {
            $0.range.lowerBound / pageSize * pageSize..<($0.range.upperBound + pageSize - 1) / pageSize * pageSize
        }
        return mapped.gaps(upTo: bytes.count)
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

extension [ELFImage.Segment] {
    /// Where in the file stands what the loader puts at `address`; `nil`: nowhere.
    func offset(of address: UInt64) -> UInt64? {
        for segment in self where segment.type == ELFImage.Segment.load && address >= segment.address {
            let distance = address - segment.address
            if distance < UInt64(segment.range.count) { return UInt64(segment.range.lowerBound) + distance }
        }
        return nil
    }

    /// The reverse.
    func address(of offset: Int) -> UInt64? {
        first { $0.type == ELFImage.Segment.load && $0.range.contains(offset) }
            .map { $0.address &+ UInt64(offset - $0.range.lowerBound) }
    }
}
