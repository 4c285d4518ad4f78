/// Whether bytes are JSON by its grammar (RFC 8259), in UTF-8 and without a byte order mark.
///
/// Not by the reader of manifests, nor by Foundation's: both have limits, of depth and of what a number can be, that are theirs and not
/// JSON's, and Foundation's takes other encodings too. One pass, at any depth.
struct JSONSyntax {
    private let bytes: [UInt8]
    private var index = 0

    static func isJSON(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var reader = JSONSyntax(bytes: bytes)
        return reader.takesDocument()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func takesDocument() -> Bool {
        // What the values that are under way end with.
        var closers: [UInt8] = []
        while true {
            skipSpace()
            if takes("{") {
                skipSpace()
                if !takes("}") {
                    closers.append(UInt8(ascii: "}"))
                    guard takesKey() else { return false }
                    continue
                }
            } else if takes("[") {
                skipSpace()
                if !takes("]") {
                    closers.append(UInt8(ascii: "]"))
                    continue
                }
            } else if !takesScalar() {
                return false
            }
            skipSpace()
            while let closer = closers.last, next == closer {
                index += 1
                closers.removeLast()
                skipSpace()
            }
            guard let closer = closers.last else { return index == bytes.count }
            guard takes(",") else { return false }
            if closer == UInt8(ascii: "}"), !takesKey() { return false }
        }
    }

    private mutating func takesKey() -> Bool {
        skipSpace()
        guard takesString() else { return false }
        skipSpace()
        return takes(":")
    }

    private mutating func takesScalar() -> Bool {
        next == UInt8(ascii: "\"") ? takesString() : takes("true") || takes("false") || takes("null") || takesNumber()
    }

    /// Half of a surrogate pair is as good an escape as any other.
    private mutating func takesString() -> Bool {
        guard takes("\"") else { return false }
        while let byte = next, byte >= 0x20 {
            index += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), !takesEscape() { return false }
        }
        return false
    }

    private mutating func takesEscape() -> Bool {
        guard let byte = next else { return false }
        index += 1
        guard byte == UInt8(ascii: "u") else { return #""\/bfnrt"#.utf8.contains(byte) }
        for _ in 0..<4 {
            guard let digit = next, Character(Unicode.Scalar(digit)).isHexDigit else { return false }
            index += 1
        }
        return true
    }

    private mutating func takesNumber() -> Bool {
        _ = takes("-")
        guard takes("0") || takesDigits() else { return false }
        if takes("."), !takesDigits() { return false }
        guard takes("e") || takes("E") else { return true }
        _ = takes("+") || takes("-")
        return takesDigits()
    }

    private mutating func takesDigits() -> Bool {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        return index > start
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func takes(_ text: StaticString) -> Bool {
        let isThere = text.withUTF8Buffer { bytes[index...].starts(with: $0) }
        if isThere { index += text.utf8CodeUnitCount }
        return isThere
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }
}
