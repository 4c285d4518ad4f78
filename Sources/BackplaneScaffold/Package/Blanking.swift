/// Blanks comments and the contents of string literals out of Swift source.
///
/// Knows line and block comments, nested ones too, and string literals of one line, of several, and raw ones, with interpolations. Of a regular
/// expression literal between slashes it knows nothing, nor does a Package.swift.
struct Blanking {
    private let bytes: [UInt8]
    private var code: [UInt8]
    /// Where the comments are, without the end of a line comment's line.
    private(set) var comments: [Range<Int>] = []
    private var index = 0

    init(_ bytes: [UInt8]) {
        (self.bytes, code) = (bytes, bytes)
    }

    mutating func blanked() -> [UInt8] {
        while index < bytes.count { step() }
        return code
    }

    /// Passes one byte of code, or one comment or literal.
    private mutating func step() {
        let start = index
        if follows("//") {
            while index < bytes.count, !bytes[index].endsLine { blank() }
            comments.append(start..<index)
        } else if follows("/*") {
            comment()
            comments.append(start..<index)
        } else if let marks = literalMarks {
            literal(marks)
        } else {
            index += 1
        }
    }

    private mutating func comment() {
        var depth = 0
        repeat {
            if follows("/*") {
                depth += 1
                blank(2)
            } else if follows("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && index < bytes.count
    }

    /// How many `#` a literal that begins here has before its quote; `nil`: none begins.
    private var literalMarks: Int? {
        let marks = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
        return index + marks < bytes.count && bytes[index + marks] == UInt8(ascii: "\"") ? marks : nil
    }

    private mutating func literal(_ marks: Int) {
        let hashes = String(repeating: "#", count: marks)
        index += marks
        let quotes = follows("\"\"\"") ? "\"\"\"" : "\""
        index += quotes.utf8.count
        while index < bytes.count, !follows(quotes + hashes) {
            if quotes == "\"", bytes[index].endsLine { return }
            if follows("\\\(hashes)(") {
                blank(2 + marks)
                interpolation()
            } else if follows("\\\(hashes)") {
                blank(2 + marks)
            } else {
                blank()
            }
        }
        index = min(index + quotes.utf8.count + marks, bytes.count)
    }

    /// All of it, after the bracket that opens it.
    private mutating func interpolation() {
        let start = index
        var depth = 1
        while index < bytes.count, depth > 0 {
            if bytes[index] == UInt8(ascii: "(") { depth += 1 }
            if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
            step()
        }
        for place in start..<index where !code[place].endsLine { code[place] = UInt8(ascii: " ") }
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where index < bytes.count {
            if !bytes[index].endsLine { code[index] = UInt8(ascii: " ") }
            index += 1
        }
    }

    private func follows(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }
}

extension UInt8 {
    /// The end of a line, or half of one.
    var endsLine: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
