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

    /// The whole source with more elements in the list, on lines of their own as soon as there are two.
    func adding(_ elements: [String]) -> String {
        guard !elements.isEmpty else { return source.text(0..<source.bytes.count) }
        let outer = source.indent(at: open)
        let inner = places.first.flatMap { isOnOwnLine($0.lowerBound) ? source.indent(at: $0.lowerBound) : nil } ?? outer + "    "
        let lines = elements.map { "\($0),".indented(by: inner) + "\n" }.joined()
        let before = source.text(0..<(open + 1)), after = source.text(close..<source.bytes.count)
        guard let first = places.first, let last = places.last else { return "\(before)\n\(lines)\(outer)\(after)" }
        let isClosed = source.code[last.upperBound..<close].contains(UInt8(ascii: ","))
        guard isOnOwnLine(first.lowerBound) else {
            return "\(before)\n\(inner)\(source.text(first.lowerBound..<close)[...].trimmingEnd)\(isClosed ? "" : ",")\n\(lines)\(outer)\(after)"
        }
        // A comment after the last element stays where it is.
        let rest = source.text(last.upperBound..<close), comment = rest[..<(rest.lastIndex(of: "\n") ?? rest.endIndex)]
        return source.text(0..<last.upperBound) + (isClosed ? "" : ",") + comment.trimmingEnd + "\n\(lines)\(outer)\(after)"
    }

    private func isOnOwnLine(_ offset: Int) -> Bool {
        source.bytes[..<offset].last { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } == UInt8(ascii: "\n")
    }
}

extension Substring {
    fileprivate var trimmingEnd: Substring {
        self[..<(lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex)]
    }
}
