/// The check of the segments that describe parts of the memory to the loader.
extension ELFLoaderTables {
    /// The maximum size and alignment of thread-local variables.
    ///
    /// The loader terminates a process without enough memory for a thread's variables.
    private static let largestThreadLocal: UInt64 = 1 << 30, largestAlignment: UInt64 = 1 << 20

    func checkSegments() throws(ELFImage.Defect) {
        for (number, segment) in segments.enumerated() {
            switch segment.type {
            case Segment.dynamic:
                // The loader adds the library's base to the addresses in it, unless it is said to be read-only.
                guard memory.has(segment.address, segment.sizeInMemory, segment.flags & Segment.writable) else {
                    throw outside(number, segment)
                }
            case Segment.notes, Segment.unwinding, Segment.properties:
                guard memory.has(segment.address, segment.sizeInMemory) else { throw outside(number, segment) }
            case Segment.table: try checkTable(number, segment)
            case Segment.threadLocal: try checkThreadLocal(number, segment)
            case Segment.constants: try checkConstants(number, segment)
            default: break
            }
        }
    }

    private func outside(_ number: Int, _ segment: Segment) -> ELFImage.Defect {
        .misleading("segment \(number) refers to address \(hex(segment.address)), outside its memory")
    }

    /// Checks that the table of segments in memory equals that in the file, because later readers of code use the
    /// former.
    private func checkTable(_ number: Int, _ segment: Segment) throws(ELFImage.Defect) {
        let start = try reader.uint64(32), count = try reader.uint16(56)
        guard segment.sizeInMemory >= UInt64(count) * 56, memory.has(segment.address, segment.sizeInMemory) else {
            throw outside(number, segment)
        }
        guard segments.offset(of: segment.address) == start else {
            throw .misleading("segment \(number) refers to address \(hex(segment.address)) for the table of segments")
        }
    }

    private func checkThreadLocal(_ number: Int, _ segment: Segment) throws(ELFImage.Defect) {
        if segment.sizeInMemory == 0 { return }
        guard segment.range.isEmpty || memory.has(segment.address, UInt64(segment.range.count)) else {
            throw outside(number, segment)
        }
        guard UInt64(segment.range.count) <= segment.sizeInMemory, segment.sizeInMemory <= Self.largestThreadLocal,
            segment.alignment <= Self.largestAlignment, segment.alignment & (segment.alignment &- 1) == 0
        else {
            throw .misleading(
                "its thread-local variables occupy \(segment.sizeInMemory) bytes with an alignment of "
                    + "\(segment.alignment)"
            )
        }
    }

    /// Checks the range that becomes read-only after relocation; the loader uses whole pages, including the last one it
    /// covers.
    private func checkConstants(_ number: Int, _ segment: Segment) throws(ELFImage.Defect) {
        if segment.sizeInMemory == 0 { return }
        guard let part = memory.part(at: segment.address, 1), part.flags & Segment.writable != 0,
            segment.sizeInMemory <= memory.pages.upperBound - segment.address,
            (segment.address + segment.sizeInMemory) / memory.pageSize * memory.pageSize <= memory.lastPageEnd(of: part)
        else { throw outside(number, segment) }
    }

    /// The size of the thread-local variables of one thread.
    var threadLocalSize: UInt64? {
        segments.last { $0.type == Segment.threadLocal && $0.sizeInMemory > 0 }?.sizeInMemory
    }
}
