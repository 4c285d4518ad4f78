/// The manner in which somebody has laid out source: where its lines end, and how far they are moved in.
extension SwiftText {
    /// As its first line ends.
    var lineEnd: String {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end > 0, bytes[end - 1] == UInt8(ascii: "\r") else { return "\n" }
        return "\r\n"
    }

    /// What a line is moved in by: a tab or some spaces, as the first one that is.
    var step: String {
        for start in lineStarts {
            let space = space(from: start), first = start + space.count
            guard !space.isEmpty, first < code.count, !code[first].isSwiftSpace else { continue }
            if space.first == UInt8(ascii: "\t") { return "\t" }
            // More than that is below a bracket.
            return space.count <= Self.widest ? String(decoding: space, as: UTF8.self) : Self.usualStep
        }
        return Self.usualStep
    }

    /// As the lines that are made here have it.
    private static let usualStep = "    "
    private static let widest = 8

    private var lineStarts: [Int] { [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 } }

    private func lineStart(of offset: Int) -> Int { bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0 }

    private func space(from offset: Int) -> ArraySlice<UInt8> { bytes[offset...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }

    /// The space that the line of an offset begins with.
    func indent(at offset: Int) -> String { String(decoding: space(from: lineStart(of: offset)), as: UTF8.self) }

    /// Where the line of an offset has its first byte that is no space.
    func firstOnLine(of offset: Int) -> Int {
        let start = lineStart(of: offset)
        return start + space(from: start).count
    }

    /// Whether nothing but space and comments stands before an offset on its line.
    func beginsLine(_ offset: Int) -> Bool { code[lineStart(of: offset)..<offset].allSatisfy(\.isSwiftSpace) }

    func isOnOneLine(_ range: Range<Int>) -> Bool { !bytes[range].contains(UInt8(ascii: "\n")) }

    /// Where the second line of a range begins; the lines of a comment count as one.
    func secondLine(of range: Range<Int>) -> Int? {
        range.first { place in bytes[place] == UInt8(ascii: "\n") && !comments.contains { $0.contains(place) } }.map { $0 + 1 }
    }

    /// What is between something in brackets and what stands before it: the comma, or the bracket.
    func gap(before offset: Int, in brackets: Range<Int>) -> Range<Int> {
        (code[brackets.lowerBound..<offset].lastIndex { !$0.isSwiftSpace }.map { $0 + 1 } ?? brackets.lowerBound)..<offset
    }

    /// A range without the space at both ends; comments are no space.
    func contents(of range: Range<Int>) -> Range<Int> {
        guard let first = range.first(where: { !bytes[$0].isSwiftSpace }), let last = range.last(where: { !bytes[$0].isSwiftSpace }) else {
            return range.lowerBound..<range.lowerBound
        }
        return first..<(last + 1)
    }

    /// Lines with four spaces a level and without an end, each in this source's manner.
    func lines(_ text: String, indent: String) -> String {
        let step = step
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let levels = line.prefix { $0 == " " }.count / Self.usualStep.count
            return line.isEmpty ? "" : indent + String(repeating: step, count: levels) + line.dropFirst(levels * Self.usualStep.count)
        }.joined(separator: lineEnd)
    }
}
