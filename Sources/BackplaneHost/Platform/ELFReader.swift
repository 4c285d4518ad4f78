/// A reader of little-endian numbers and strings in untrusted bytes; it checks every offset before using it.
struct ELFReader {
    let bytes: MappedBytes

    init(_ bytes: MappedBytes) {
        self.bytes = bytes
    }

    /// Returns the range of `size` bytes at `offset`, which must lie inside the file.
    @discardableResult
    func require(_ offset: UInt64, _ size: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Defect) -> Range<
        Int
    > {
        let (end, overflow) = offset.addingReportingOverflow(size)
        guard !overflow && end <= UInt64(bytes.count) else {
            let needed = overflow ? "beyond any file" : "at byte \(end)"
            throw .damaged("\(what()) would end \(needed), the file has \(bytes.count)")
        }
        return Int(offset)..<Int(end)
    }

    /// Returns the range of a table of `count` entries, which must lie inside the file.
    @discardableResult
    func require(_ offset: UInt64, count: UInt64, each size: UInt64, _ what: @autoclosure () -> String) throws(ELFImage
        .Defect) -> Range<Int>
    {
        let (total, overflow) = count.multipliedReportingOverflow(by: size)
        return try require(offset, overflow ? .max : total, what())
    }

    func uint8(_ offset: UInt64) throws(ELFImage.Defect) -> UInt8 {
        try number(offset)
    }

    func uint16(_ offset: UInt64) throws(ELFImage.Defect) -> UInt16 {
        try number(offset)
    }

    func uint32(_ offset: UInt64) throws(ELFImage.Defect) -> UInt32 {
        try number(offset)
    }

    func uint64(_ offset: UInt64) throws(ELFImage.Defect) -> UInt64 {
        try number(offset)
    }

    private func number<Number: FixedWidthInteger>(_ offset: UInt64) throws(ELFImage.Defect) -> Number {
        let size = MemoryLayout<Number>.size
        return bytes.withBytes(in: try require(offset, UInt64(size), "a field")) {
            Number(littleEndian: $0.loadUnaligned(as: Number.self))
        }
    }

    /// Returns whether the file contains `text` at an offset.
    func isText(_ text: String, at offset: Int) -> Bool {
        let end = offset + text.utf8.count
        return end <= bytes.count && bytes.withBytes(in: offset..<end) { $0.elementsEqual(text.utf8) }
    }

    /// Returns whether a string table contains exactly `text` at `offset`.
    static func isText(_ text: String, at offset: Int, in table: UnsafeRawBufferPointer) -> Bool {
        let end = offset + text.utf8.count
        return end < table.count && table[offset..<end].elementsEqual(text.utf8) && table[end] == 0
    }
}
