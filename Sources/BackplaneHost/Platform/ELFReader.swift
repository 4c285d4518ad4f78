/// Reads little-endian numbers and texts out of bytes that may say anything: every offset is checked before it is used.
struct ELFReader {
    let bytes: FileExcerpt

    init(_ bytes: FileExcerpt) {
        self.bytes = bytes
    }

    /// The range of `size` bytes at `offset`, which must lie inside the file.
    @discardableResult
    func require(_ offset: UInt64, _ size: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Problem) -> Range<Int> {
        let (end, overflow) = offset.addingReportingOverflow(size)
        guard !overflow && end <= UInt64(bytes.fileSize) else {
            let needed = overflow ? "beyond any file" : "at byte \(end)"
            throw .damaged("\(what()) would end \(needed), the file has \(bytes.fileSize)")
        }
        return Int(offset)..<Int(end)
    }

    /// The same for a table of `count` entries.
    func require(_ offset: UInt64, count: UInt64, each size: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Problem) {
        let (total, overflow) = count.multipliedReportingOverflow(by: size)
        try require(offset, overflow ? .max : total, what())
    }

    func uint8(_ offset: UInt64) throws(ELFImage.Problem) -> UInt8 {
        try number(offset)
    }

    func uint16(_ offset: UInt64) throws(ELFImage.Problem) -> UInt16 {
        try number(offset)
    }

    func uint32(_ offset: UInt64) throws(ELFImage.Problem) -> UInt32 {
        try number(offset)
    }

    func uint64(_ offset: UInt64) throws(ELFImage.Problem) -> UInt64 {
        try number(offset)
    }

    private func number<Number: FixedWidthInteger>(_ offset: UInt64) throws(ELFImage.Problem) -> Number {
        let size = MemoryLayout<Number>.size
        let field = try known(require(offset, UInt64(size), "a field"), "a field")
        return field.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// - Throws: when a linker has put what is looked for where nothing is loaded from.
    private func known(_ range: Range<Int>, _ what: String) throws(ELFImage.Problem) -> ArraySlice<UInt8> {
        guard let known = bytes[range] else { throw .damaged("\(what) at byte \(range.lowerBound) lies where no part of a library is loaded from") }
        return known
    }

    /// The text at `offset` of a string table, which ends at a zero inside the table.
    func text(at offset: UInt64, in table: Range<Int>) throws(ELFImage.Problem) -> String {
        guard offset < UInt64(table.count) else { throw .damaged("a name lies outside the table of names") }
        let rest = try known(table, "the table of names").dropFirst(Int(offset))
        guard let end = rest.firstIndex(of: 0) else { throw .damaged("the table of names has no end") }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// Whether exactly `text` stands at `offset` of a string table.
    static func isText(_ text: String, at offset: Int, in table: ArraySlice<UInt8>) -> Bool {
        guard offset < table.count else { return false }
        var index = table.startIndex + offset
        for byte in text.utf8 {
            guard index < table.endIndex, table[index] == byte else { return false }
            index += 1
        }
        return index < table.endIndex && table[index] == 0
    }
}
