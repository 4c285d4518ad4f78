/// A string of a definition, with its indicators.
struct Template: Sendable {
    /// A part of the text.
    enum Piece: Sendable {
        case literal(String)
        case indicator(Indicator)
    }
    var pieces: [Piece]

    /// A remark about one position in the text.
    enum Remark: Sendable {
        /// A string that starts like an indicator but is not one.
        case mistake(String)
        /// A literal percent sign.
        case percent(String)
        /// A percent-encoded octet.
        case octet(String)
    }

    /// The indicator, if the text consists only of one.
    var indicator: Indicator? {
        if pieces.count == 1, case .indicator(let indicator) = pieces[0] { indicator } else { nil }
    }

    /// The text, if it has no indicators.
    var literal: String? {
        switch pieces.count {
        case 0: return ""
        case 1: if case .literal(let text) = pieces[0] { return text } else { return nil }
        default: return nil
        }
    }

    /// The indicators in order.
    var indicators: [Indicator] {
        pieces.compactMap { if case .indicator(let indicator) = $0 { indicator } else { nil } }
    }

    /// Creates a template from a string.
    ///
    /// - Parameters:
    ///   - isURL: A Boolean value that indicates whether a literal percent sign is written `%25`.
    ///   - remark: A function that receives remarks for the reader of a definition.
    init(_ text: String, isURL: Bool = false, _ remark: (Remark) -> Void) {
        guard text.utf8.contains(UInt8(ascii: "%")) else {
            pieces = text.isEmpty ? [] : [.literal(text)]
            return
        }
        var scanner = Scanner(bytes: Array(text.utf8), percent: isURL ? Array("%25".utf8) : [UInt8(ascii: "%")])
        scanner.scan(remark)
        pieces = scanner.pieces
    }

    /// A reader of one string.
    private struct Scanner {
        let bytes: [UInt8]
        let percent: [UInt8]
        var pieces: [Piece] = []
        private var literal: [UInt8] = []
        private var index = 0

        init(bytes: [UInt8], percent: [UInt8]) { (self.bytes, self.percent) = (bytes, percent) }

        mutating func scan(_ remark: (Remark) -> Void) {
            while index < bytes.count {
                guard bytes[index] == UInt8(ascii: "%") else {
                    literal.append(bytes[index])
                    index += 1
                    continue
                }
                switch byte(1) {
                case UInt8(ascii: "%"):
                    literal += percent
                    index += 2
                case let high? where high.isHexadecimalDigit && byte(2)?.isHexadecimalDigit == true:
                    remark(.octet(String(decoding: bytes[index..<(index + 3)], as: UTF8.self)))
                    literal += bytes[index..<(index + 3)]
                    index += 3
                case let digit? where digit.isDecimalDigit:
                    properties(of: Int(digit - UInt8(ascii: "0")), from: index + 2, remark)
                case UInt8(ascii: "{"): braces(remark)
                default:
                    remark(.percent(shown(2)))
                    literal += percent
                    index += 1
                }
            }
            endLiteral()
        }

        private mutating func braces(_ remark: (Remark) -> Void) {
            let start = index + 2
            let end = bytes[start...].firstIndex { !$0.isDecimalDigit } ?? bytes.count
            guard end > start, end < bytes.count, bytes[end] == UInt8(ascii: "}") else {
                remark(.mistake("`\(shown(8))` is not an indicator; write `%{0}`, or `%%` for a percent sign"))
                index += 1
                return
            }
            let digits = bytes[start..<end]
            guard digits.count <= 2, let number = Int(String(decoding: digits, as: UTF8.self)) else {
                remark(
                    .mistake(
                        "an indicator has one or two digits; a method has at most \(Indicator.mostArguments) arguments")
                )
                index = end + 1
                return
            }
            properties(of: number, from: end + 1, remark)
        }

        /// Reads the properties after the number of an argument, if any.
        private mutating func properties(of argument: Int, from start: Int, _ remark: (Remark) -> Void) {
            guard start < bytes.count, bytes[start] == UInt8(ascii: "[") else {
                add(Indicator(index: argument, properties: []), endingAt: start)
                return
            }
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "]")) else {
                remark(.mistake("`\(shown(8))` has no `]` after its property"))
                index = start
                return
            }
            let names = bytes[(start + 1)..<end].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            if names.contains(where: \.isEmpty) {
                remark(
                    .mistake(
                        "`\(shown(end + 1 - index))` has a property without a name; write `[name]` or `[author.name]`"))
            }
            add(Indicator(index: argument, properties: names), endingAt: end + 1)
        }

        private mutating func add(_ indicator: Indicator, endingAt end: Int) {
            endLiteral()
            pieces.append(.indicator(indicator))
            index = end
        }

        private mutating func endLiteral() {
            guard !literal.isEmpty else { return }
            pieces.append(.literal(String(decoding: literal, as: UTF8.self)))
            literal = []
        }

        private func byte(_ distance: Int) -> UInt8? {
            index + distance < bytes.count ? bytes[index + distance] : nil
        }

        /// Returns the text at the index, up to a length.
        private func shown(_ count: Int) -> String {
            String(decoding: bytes[index...].prefix(min(count, 80)), as: UTF8.self)
        }
    }
}

extension UInt8 {
    var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isHexadecimalDigit: Bool {
        isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
