/// A position in a text file: line and column, both counted from 1, the column in Unicode scalars.
public struct SourcePosition: Sendable, Hashable, CustomStringConvertible {
    /// The line and the column, counted from 1.
    public var line, column: Int

    /// Creates a position from numbers that are counted from 1.
    public init(line: Int, column: Int) {
        (self.line, self.column) = (line, column)
    }

    /// Returns the positions of offsets in UTF-8 text, determined in one pass.
    package static func positions(of offsets: [Int], in bytes: [UInt8]) -> [Int: SourcePosition] {
        var positions: [Int: SourcePosition] = [:]
        var (next, position) = (0, SourcePosition(line: 1, column: 1))
        for offset in offsets.sorted() {
            while next < min(offset, bytes.count) {
                if bytes[next] == UInt8(ascii: "\n") {
                    position = SourcePosition(line: position.line + 1, column: 1)
                } else if bytes[next] & 0xC0 != 0x80 {
                    position.column += 1
                }
                next += 1
            }
            positions[offset] = position
        }
        return positions
    }

    /// The position as text: `line 3, column 5`.
    public var description: String { "line \(line), column \(column)" }
}
