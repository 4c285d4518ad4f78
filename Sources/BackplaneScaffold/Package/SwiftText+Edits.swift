/// A stretch of source, and what takes its place.
struct SwiftEdit: Sendable, Hashable {
    var range: Range<Int>
    var text: String

    init(_ range: Range<Int>, _ text: String) { (self.range, self.text) = (range, text) }

    init(at offset: Int, _ text: String) { self.init(offset..<offset, text) }
}

extension SwiftText {
    /// The whole source with some edits, which do not overlap; those at one offset come in their order.
    func applying(_ edits: [SwiftEdit]) -> String {
        var result = "", done = 0
        for edit in edits.enumerated().sorted(by: { ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset) }).map(\.element) {
            result += text(done..<edit.range.lowerBound) + edit.text
            done = edit.range.upperBound
        }
        return result + text(done..<bytes.count)
    }

    /// What gives each element in brackets a line of its own: a comment goes with the element behind it, or stays behind the last.
    func spreading(_ elements: [Range<Int>], in brackets: Range<Int>, indent: String) -> [SwiftEdit] {
        var start = brackets.lowerBound
        return elements.map { element in
            let gap = start..<contents(of: start..<element.upperBound).lowerBound
            start = code[element.upperBound..<brackets.upperBound].firstIndex(of: UInt8(ascii: ",")).map { $0 + 1 } ?? element.upperBound
            return SwiftEdit(gap, lineEnd + indent)
        }
    }
}
