/// A list in brackets in Swift source.
struct SwiftList: Sendable {
    private let source: SwiftText
    /// Where its brackets are.
    private let open, close: Int
    private let places: [Range<Int>]

    /// - Returns: `nil` where the value is anything but a list that is written out.
    init?(at value: Range<Int>, in source: SwiftText) {
        guard let first = value.first, source.code[first] == UInt8(ascii: "["), source.end(ofBracketAt: first) == value.upperBound - 1 else { return nil }
        (self.source, open, close) = (source, first, value.upperBound - 1)
        places = source.elements(in: (open + 1)..<close)
    }

    /// As they are written.
    var elements: [String] { places.map(source.text) }

    private var inside: Range<Int> { (open + 1)..<close }
    private var isOnOneLine: Bool { source.isOnOneLine(open..<close) }
    private var outer: String { source.indent(at: open) }

    /// That of the last element, or else of the last comment, that begins a line.
    private var inner: String {
        let comments = source.comments.filter { comment in inside.contains(comment.lowerBound) && !places.contains { $0.overlaps(comment) } }
        return (comments + places).map(\.lowerBound).last(where: source.beginsLine).map(source.indent) ?? outer + source.step
    }

    /// The whole source with more elements at the end of the list, each on lines of its own, as are those of a list on one line then.
    ///
    /// Of what is there nothing goes away but space, and a comment stays behind what it is behind.
    func adding(_ elements: [String]) -> String {
        guard !elements.isEmpty else { return source.text(0..<source.bytes.count) }
        var edits = spreading + lastComma
        let lines = elements.map { source.lineEnd + source.lines("\($0),", indent: inner) }.joined()
        let end = max(open + 1, source.contents(of: inside).upperBound)
        if source.isOnOneLine(end..<close) {
            edits.append(SwiftEdit(end..<close, lines + source.lineEnd + outer))
        } else {
            edits.append(SwiftEdit(at: end, lines))
        }
        return source.applying(edits)
    }

    /// The whole source with the elements of a list on one line on lines of their own.
    func spread() -> String {
        guard isOnOneLine, !places.isEmpty else { return source.text(0..<source.bytes.count) }
        let end = source.contents(of: inside).upperBound
        return source.applying(spreading + lastComma + [SwiftEdit(end..<close, source.lineEnd + outer)])
    }

    private var spreading: [SwiftEdit] {
        isOnOneLine ? source.spreading(places, in: inside, indent: inner) : []
    }

    /// The comma behind the last element, where that has none.
    private var lastComma: [SwiftEdit] {
        guard let last = places.last, !source.code[last.upperBound..<close].contains(UInt8(ascii: ",")) else { return [] }
        return [SwiftEdit(at: last.upperBound, ",")]
    }
}
