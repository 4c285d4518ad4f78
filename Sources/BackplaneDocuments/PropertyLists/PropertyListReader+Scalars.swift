internal import FoundationEssentials

extension PropertyListReader {
    mutating func scalar(_ tag: Tag) throws(Mistake) -> DocumentValue {
        let text = try text(of: tag)
        if tag.name == "string" { return .string(text) }
        let trimmed = text.filter { !$0.isWhitespace }
        let value: DocumentValue? =
            switch tag.name {
            case "integer": integer(trimmed)
            case "real": Double(trimmed).map { DocumentValue(canonical: $0) }
            case "data": Data(base64Encoded: trimmed).map { .data($0) }
            default: (try? Date(trimmed, strategy: .iso8601)).map { .date($0) }
            }
        guard let value else {
            throw Mistake(offset: tag.offset, reason: "`\(text.prefix(40))` is not a valid \(tag.name)")
        }
        return value
    }

    /// Parses a decimal integer, or a hexadecimal one after `0x`.
    ///
    /// Integers beyond signed 64 bits become floating-point numbers.
    private func integer(_ text: String) -> DocumentValue? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let isHexadecimal = digits.lowercased().hasPrefix("0x")
        let magnitude = isHexadecimal ? UInt64(digits.dropFirst(2), radix: 16) : UInt64(digits)
        guard let magnitude, digits.first?.isNumber == true else { return nil }
        if isNegative { return magnitude <= 1 << 63 ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil }
        return Int64(exactly: magnitude).map { .integer($0) } ?? .number(Double(magnitude))
    }

    /// Returns the text between a tag and its end.
    mutating func text(of tag: Tag) throws(Mistake) -> String {
        if tag.isEmpty { return "" }
        var text: [UInt8] = []
        while true {
            guard index < bytes.count else { throw Mistake(offset: tag.offset, reason: "`\(tag.text)` does not end") }
            switch bytes[index] {
            case UInt8(ascii: "<"):
                let start = index
                if skip("<![CDATA[") {
                    let first = index
                    try skip(past: "]]>", of: "section of text", from: start)
                    text += bytes[first..<(index - 3)]
                } else if skip("<!--") {
                    try skip(past: "-->", of: "comment", from: start)
                } else {
                    try end(of: tag.name)
                    guard let string = String(validating: text, as: UTF8.self) else {
                        throw Mistake(offset: tag.offset, reason: "the text of this `\(tag.text)` is not UTF-8")
                    }
                    return string
                }
            case UInt8(ascii: "&"): text += try entity().utf8
            case let byte:
                text.append(byte)
                index += 1
            }
        }
    }

    private mutating func entity() throws(Mistake) -> String {
        let start = index
        let name = String(
            decoding: bytes[index...].prefix(12).dropFirst().prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        index += name.utf8.count + 1
        guard skip(";"), let text = Self.entities[name] ?? Self.numeric(name) else {
            throw Mistake(offset: start, reason: "an unknown entity; write `&amp;` for `&`")
        }
        return text
    }

    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    /// Returns the character of a numeric entity: `#13` or `#xD`.
    private static func numeric(_ name: String) -> String? {
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}
