/// A reference to an argument of a method: `%0`, `%{12}`, `%0[name]` or `%0[author.name]`.
struct Indicator: Sendable {
    /// The position of the argument, counted from 0.
    let index: Int
    /// The names of the properties that identify the value; empty for the argument itself.
    let properties: [String]

    /// The subject for messages about the value.
    var subject: String {
        properties.isEmpty ? "the argument \(index)" : "`\(properties.joined(separator: "."))` of the argument \(index)"
    }

    /// The indicator in its long form.
    var text: String { "%{\(index)}" + (properties.isEmpty ? "" : "[\(properties.joined(separator: "."))]") }
}

/// A string of a definition, with its indicators.
struct Template: Sendable {
    /// A part of the text.
    enum Piece: Sendable {
        case literal(String)
        case indicator(Indicator)
    }
    let pieces: [Piece]

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
        let percent = Array((isURL ? "%25" : "%").utf8)
        var pieces: [Piece] = [], literal: [UInt8] = [], rest = Array(text.utf8)[...]
        func shown(_ count: Int) -> String { String(decoding: rest.prefix(min(count, 80)), as: UTF8.self) }
        func endLiteral() {
            if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
            literal = []
        }
        while let byte = rest.first {
            let next = rest.dropFirst().prefix(2)
            if byte != UInt8(ascii: "%") {
                literal.append(byte)
                rest = rest.dropFirst()
            } else if next.first == UInt8(ascii: "%") {
                literal += percent
                rest = rest.dropFirst(2)
            } else if next.count == 2, next.allSatisfy(\.isHexadecimalDigit) {
                remark(.octet(shown(3)))
                literal += rest.prefix(3)
                rest = rest.dropFirst(3)
            } else if next.first == UInt8(ascii: "{") || next.first?.isDecimalDigit == true {
                let hasBraces = next.first == UInt8(ascii: "{")
                let digits = hasBraces ? rest.dropFirst(2).prefix(while: \.isDecimalDigit) : next.prefix(1)
                var after = rest[digits.endIndex...]
                if hasBraces {
                    guard !digits.isEmpty, after.first == UInt8(ascii: "}") else {
                        remark(.mistake("`\(shown(8))` is not an indicator; write `%{0}`, or `%%` for a percent sign"))
                        rest = rest.dropFirst()
                        continue
                    }
                    after = after.dropFirst()
                }
                guard digits.count <= 2, let index = Int(String(decoding: digits, as: UTF8.self)) else {
                    remark(.mistake("an indicator has one or two digits; a method has at most 100 arguments"))
                    rest = after
                    continue
                }
                var names: [String] = []
                if after.first == UInt8(ascii: "[") {
                    guard let end = after.firstIndex(of: UInt8(ascii: "]")) else {
                        remark(.mistake("`\(shown(8))` has no `]` after its property"))
                        rest = after
                        continue
                    }
                    names = after[..<end].dropFirst()
                        .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                        .map { String(decoding: $0, as: UTF8.self) }
                    after = after[(end + 1)...]
                    if names.contains("") {
                        let found = shown(after.startIndex - rest.startIndex)
                        remark(.mistake("`\(found)` has a property without a name; write `[name]` or `[author.name]`"))
                    }
                }
                endLiteral()
                pieces.append(.indicator(Indicator(index: index, properties: names)))
                rest = after
            } else {
                remark(.percent(shown(2)))
                literal += percent
                rest = rest.dropFirst()
            }
        }
        endLiteral()
        self.pieces = pieces
    }
}

/// The path of a method's request, and its query, with indicators.
struct PathTemplate: Sendable {
    /// The scheme, host and port of a full URL; empty for a path.
    private(set) var origin = ""
    /// The path, in which literals are percent-encoded.
    private(set) var path: [Template.Piece] = []
    /// The fields of the query, in which literals are percent-encoded.
    private(set) var query: [[Template.Piece]] = []
    /// The fragment, which is never sent; `nil` if there is none.
    private(set) var fragment: String?

    /// Creates a path from the text of a definition.
    ///
    /// - Parameter template: A function that reads the indicators of a part of the text.
    init(_ text: String, _ template: (String) -> Template) {
        var bytes = Array(text.utf8)[...]
        if let end = Self.endOfOrigin(bytes) {
            origin = String(decoding: bytes[..<end], as: UTF8.self)
            bytes = bytes[end...]
        }
        let sent = bytes.prefix { $0 != UInt8(ascii: "#") }, path = sent.prefix { $0 != UInt8(ascii: "?") }
        func pieces(_ bytes: some Sequence<UInt8>, _ allowed: String) -> [Template.Piece] {
            template(String(decoding: Array(bytes), as: UTF8.self)).pieces.map { piece in
                guard case .literal(let text) = piece else { return piece }
                return .literal(text.percentEncoded(besides: allowed))
            }
        }
        self.path = pieces(path, "%/:@!$&'()*+,;=")
        query = sent.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")).map { pieces($0, "%/?:@!$'()*+,;=") }
        if sent.count < bytes.count { fragment = String(decoding: bytes[sent.endIndex...], as: UTF8.self) }
    }

    /// Returns the end of the scheme, host and port of a full URL; `nil` for a path.
    private static func endOfOrigin(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            bytes[..<colon].first?.isLetter == true,
            bytes[..<colon].allSatisfy({ $0.isLetter || $0.isDecimalDigit || "+-.".utf8.contains($0) })
        else { return nil }
        return bytes[(colon + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
    }

    /// A Boolean value that indicates whether the path is a full URL.
    var isFullURL: Bool { !origin.isEmpty }

    /// A Boolean value that indicates whether the host of a full URL is a literal; always true for a path.
    var hasSoundOrigin: Bool {
        guard isFullURL else { return true }
        let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isDecimalDigit || ".-:[]".utf8.contains($0) }
    }
}

extension String {
    /// Returns the text percent-encoded, except for unreserved bytes (RFC 3986, section 2.3) and the bytes of `others`.
    func percentEncoded(besides others: String = "") -> String {
        func stays(_ byte: UInt8) -> Bool {
            byte.isLetter || byte.isDecimalDigit || "-._~".utf8.contains(byte) || others.utf8.contains(byte)
        }
        if utf8.allSatisfy(stays) { return self }
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = utf8.flatMap { byte in
            stays(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// A Boolean value that indicates whether the text is a token (RFC 9110, section 5.6.2).
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetter || $0.isDecimalDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// A Boolean value that indicates whether the text can be the value of a header field (RFC 9110, section 5.5).
    ///
    /// A tab is the only control character allowed.
    var isFieldValue: Bool { utf8.allSatisfy { $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7F } }

    /// The text without surrounding spaces and tabs, which are not part of a field's value.
    var trimmedFieldValue: String {
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
        guard let first = unicodeScalars.first, let last = unicodeScalars.last, isBlank(first) || isBlank(last)
        else { return self }
        let trimmed = unicodeScalars.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return String(String.UnicodeScalarView(trimmed))
    }
}

extension UInt8 {
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isHexadecimalDigit: Bool {
        isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
