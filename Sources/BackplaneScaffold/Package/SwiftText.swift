/// Swift source as bytes, with everything that is no code blanked out, so that brackets can be counted.
struct SwiftText: Sendable {
    let bytes: [UInt8]
    /// The same, where comments and the contents of string literals are spaces.
    let code: [UInt8]
    /// Where the comments are, in their order.
    let comments: [Range<Int>]

    init(_ text: String) {
        bytes = Array(text.utf8)
        var blanking = Blanking(bytes)
        code = blanking.blanked()
        comments = blanking.comments
    }

    /// Where the bracket at an offset is closed; `nil`: nowhere.
    func end(ofBracketAt start: Int) -> Int? {
        var depth = 0
        for index in start..<code.count {
            switch code[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: continue
            }
            if depth == 0 { return index }
        }
        return nil
    }

    /// The stretches between commas of a list in brackets, without the space around them.
    func elements(in brackets: Range<Int>) -> [Range<Int>] {
        var elements: [Range<Int>] = [], depth = 0, start = brackets.lowerBound
        for index in brackets {
            switch code[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                elements.append(trimmed(start..<index))
                start = index + 1
            default: continue
            }
        }
        return (elements + [trimmed(start..<brackets.upperBound)]).filter { !$0.isEmpty }
    }

    /// Without space and comments at both ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        // A string literal keeps its quotes.
        guard let first = range.first(where: { !code[$0].isSwiftSpace }), let last = range.last(where: { !code[$0].isSwiftSpace }) else {
            return range.lowerBound..<range.lowerBound
        }
        return first..<(last + 1)
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Where a word stands as a word in the code.
    func places(of word: String) -> [Int] {
        let wanted = Array(word.utf8)
        guard code.count >= wanted.count else { return [] }
        return (0...(code.count - wanted.count)).filter { index in
            code[index] == wanted[0] && code[index...].starts(with: wanted) && !(index > 0 && code[index - 1].standsInName)
                && !(index + wanted.count < code.count && code[index + wanted.count].standsInName)
        }
    }

    /// The first offset from one on that has no space.
    func skippingSpace(from offset: Int) -> Int {
        code[offset...].firstIndex { !$0.isSwiftSpace } ?? code.count
    }
}

extension UInt8 {
    var isSwiftSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

    fileprivate var standsInName: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }
}
