/// A table of zero-terminated names in untrusted bytes.
///
/// A table can name the same long text thousands of times, so names are compared as bytes, and truncated when they are
/// converted to a `String`.
struct ELFNames: Sendable {
    let bytes: MappedBytes
    /// The range of the table in the file.
    let range: Range<Int>

    /// The length in bytes after which a string is truncated; mangled names of 1,000 bytes are common.
    static let longestText = 4_096

    /// The end of the last name in the table: the offset after the last zero.
    private let end: Int

    init(_ bytes: MappedBytes, _ range: Range<Int>) {
        (self.bytes, self.range) = (bytes, range)
        end = bytes.withBytes(in: range) { $0.lastIndex(of: 0).map { $0 + 1 } ?? 0 }
    }

    /// Checks that a name begins at `offset`, and ends inside the table.
    func require(_ offset: UInt32) throws(ELFImage.Defect) {
        guard Int(offset) < range.count else { throw .damaged("a name lies outside the table of names") }
        guard Int(offset) < end else { throw .damaged("the table of names has no end") }
    }

    /// Returns whether the name at `offset` is exactly `text`.
    func isName(_ text: String, at offset: UInt32) -> Bool {
        look(at: offset, text.utf8.count + 1) { name in
            name.count == text.utf8.count + 1 && name.last == 0 && name.dropLast().elementsEqual(text.utf8)
        }
    }

    /// Returns whether the name at `offset` begins with `text`.
    func hasPrefix(_ text: String, at offset: UInt32) -> Bool {
        look(at: offset, text.utf8.count) { $0.elementsEqual(text.utf8) }
    }

    /// Returns the name at `offset`, or its beginning if it is longer than ``longestText``.
    func text(at offset: UInt32) throws(ELFImage.Defect) -> String {
        try require(offset)
        return look(at: offset, Self.longestText) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Calls `body` with at most `count` bytes at an offset; with no bytes for an offset outside the table.
    private func look<Value>(at offset: UInt32, _ count: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        let start = min(range.lowerBound + Int(offset), range.upperBound)
        return bytes.withBytes(in: start..<min(start + count, range.upperBound), body)
    }
}
