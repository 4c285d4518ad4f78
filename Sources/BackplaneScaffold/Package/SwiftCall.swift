/// A call in Swift source, with where its labelled arguments stand.
struct SwiftCall: Sendable, Hashable {
    /// What is between its brackets.
    let inside: Range<Int>
    /// Its arguments, with their labels and without comments around them.
    let elements: [Range<Int>]
    /// Where the values of the labelled arguments are.
    var arguments: [String: Range<Int>] = [:]
    /// Where their labels begin.
    var labels: [String: Int] = [:]

    /// All calls of a function or an initialiser, in the order in which they stand there.
    static func calls(of name: String, in source: SwiftText) -> [SwiftCall] {
        source.places(of: name).compactMap { place in
            let open = source.skippingSpace(from: place + name.utf8.count)
            guard open < source.code.count, source.code[open] == UInt8(ascii: "("), let close = source.end(ofBracketAt: open) else { return nil }
            return SwiftCall((open + 1)..<close, source)
        }
    }

    private init(_ inside: Range<Int>, _ source: SwiftText) {
        (self.inside, elements) = (inside, source.elements(in: inside))
        for element in elements {
            guard let colon = element.first(where: { source.code[$0] == UInt8(ascii: ":") }) else { continue }
            let label = source.text(source.trimmed(element.lowerBound..<colon))
            guard !label.isEmpty, label.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { continue }
            arguments[label] = source.trimmed((colon + 1)..<element.upperBound)
            labels[label] = element.lowerBound
        }
    }

    /// The whole source with each argument on a line of its own, where all of them stand on one.
    func spread(in source: SwiftText) -> String {
        guard source.isOnOneLine(inside) else { return source.text(0..<source.bytes.count) }
        return source.applying(source.spreading(elements, in: inside, indent: source.indent(at: inside.lowerBound) + source.step))
    }
}
