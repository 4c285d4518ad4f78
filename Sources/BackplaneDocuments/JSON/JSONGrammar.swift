/// A parser for JSON's grammar (RFC 8259), in one pass and at any depth.
///
/// It reports everything to a receiver, which refuses text that the grammar allows but a value cannot represent.
package struct JSONGrammar<Receiver: JSONReceiver> {
    package typealias Mistake = DocumentMistake

    let bytes: [UInt8]
    package var receiver: Receiver
    private var index = 0
    /// The bytes that close the open arrays and objects.
    private var closers: [UInt8] = []

    package init(_ bytes: [UInt8], _ receiver: Receiver) {
        (self.bytes, self.receiver) = (bytes, receiver)
    }

    /// Parses a whole document.
    ///
    /// - Throws: The mistake in the text, or the receiver's refusal.
    package mutating func document() throws(Mistake) {
        skipSpace()
        if index == bytes.count { throw Mistake(offset: index, reason: receiver.subject.emptiness) }
        repeat { try value() } while try goesOn()
        if index < bytes.count {
            throw Mistake(offset: index, reason: "\(found) after the end of the \(receiver.subject.noun)")
        }
    }

    /// Parses a scalar, an empty array or object, or the start of a non-empty one up to its first value.
    private mutating func value() throws(Mistake) {
        while true {
            try receiver.valueBegins(at: index)
            let start = index
            switch next {
            case UInt8(ascii: "{"):
                try open(isObject: true)
                if try closes(with: UInt8(ascii: "}")) { return }
                try key()
            case UInt8(ascii: "["):
                try open(isObject: false)
                if try closes(with: UInt8(ascii: "]")) { return }
            case UInt8(ascii: "\""):
                let string = try string()
                return try receiver.string(string, endingAt: index)
            case UInt8(ascii: "-")?: return try number(from: start)
            case let byte? where byte.isDigit: return try number(from: start)
            case UInt8(ascii: "t"): return try word("true", true)
            case UInt8(ascii: "f"): return try word("false", false)
            case UInt8(ascii: "n"): return try word("null", nil)
            default: throw Mistake(offset: index, reason: "expected a value, found \(found)")
            }
        }
    }

    /// Returns whether another value follows, in an array or after a key; the key is consumed.
    private mutating func goesOn() throws(Mistake) -> Bool {
        while true {
            skipSpace()
            guard let closer = closers.last else { return false }
            if try closes(with: closer) { continue }
            guard skip(UInt8(ascii: ",")) else {
                throw Mistake(offset: index, reason: "expected `,` or `\(Unicode.Scalar(closer))`, found \(found)")
            }
            skipSpace()
            if closer == UInt8(ascii: "}") { try key() }
            return true
        }
    }

    private mutating func open(isObject: Bool) throws(Mistake) {
        try receiver.containerBegins(isObject: isObject, at: index)
        closers.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        index += 1
        skipSpace()
    }

    private mutating func closes(with closer: UInt8) throws(Mistake) -> Bool {
        guard skip(closer) else { return false }
        closers.removeLast()
        try receiver.containerEnds(at: index)
        return true
    }

    private mutating func key() throws(Mistake) {
        let start = index
        guard next == UInt8(ascii: "\"") else {
            throw Mistake(offset: index, reason: "expected a key in quotes, found \(found)")
        }
        let key = try string()
        skipSpace()
        guard skip(UInt8(ascii: ":")) else {
            throw Mistake(
                offset: index, reason: "expected `:` after `\(String(key.unicodeScalars.prefix(40)))`, found \(found)")
        }
        skipSpace()
        receiver.key(key, at: start)
    }

    private mutating func word(_ word: String, _ value: Bool?) throws(Mistake) {
        guard let end = bytes.end(of: word, at: index) else {
            throw Mistake(offset: index, reason: "expected a value, found \(found)")
        }
        index = end
        try receiver.word(value, endingAt: index)
    }
}

// MARK: Strings

extension JSONGrammar {
    private mutating func string() throws(Mistake) -> String {
        let start = index
        index += 1
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { index += 1 }
        var text = bytes[(start + 1)..<index]
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte < 0x20 {
                throw Mistake(
                    offset: index, reason: "a control character in a string; write it as an escape such as `\\n`")
            }
            index += 1
            if byte == UInt8(ascii: "\\") {
                text += String(try escape()).utf8
            } else {
                text.append(byte)
            }
        }
        guard skip(UInt8(ascii: "\"")) else { throw Mistake(offset: start, reason: "this string does not end") }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw Mistake(offset: start, reason: "this string is not UTF-8")
        }
        return string
    }

    private mutating func escape() throws(Mistake) -> Unicode.Scalar {
        let start = index - 1
        defer { index += 1 }
        switch next {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            if let scalar = Unicode.Scalar(unit) { return scalar }
            // Half of a surrogate pair: the other half follows as an escape of its own.
            let after = index
            if UTF16.isLeadSurrogate(unit), bytes[(index + 1)...].starts(with: #"\u"#.utf8) {
                index += 2
                let trail = try codeUnit()
                let value = 0x10000 + UInt32(unit & 0x3FF) << 10 + UInt32(trail & 0x3FF)
                if UTF16.isTrailSurrogate(trail), let scalar = Unicode.Scalar(value) { return scalar }
            }
            try receiver.halfOfPair(at: start)
            index = after
            return "\u{FFFD}"
        default:
            throw Mistake(offset: start, reason: "an unknown escape")
        }
    }

    /// Parses four hexadecimal digits after the `u` at the index, and leaves the index at the last digit.
    private mutating func codeUnit() throws(Mistake) -> UInt16 {
        let digits = bytes[(index + 1)...].prefix(4)
        guard digits.count == 4, digits.allSatisfy(\.isHexDigit),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else {
            throw Mistake(offset: index - 1, reason: "expected four hexadecimal digits after `\\u`")
        }
        index += 4
        return unit
    }
}

// MARK: Numbers

extension JSONGrammar {
    private mutating func number(from start: Int) throws(Mistake) {
        _ = skip(UInt8(ascii: "-"))
        let leadingZero = next == UInt8(ascii: "0")
        guard case let digits = skipDigits(), digits == 1 || digits > 1 && !leadingZero else {
            throw Mistake(
                offset: start, reason: "a number starts with a digit, and with 0 only if no other digit follows")
        }
        var isWhole = true
        if skip(UInt8(ascii: ".")) {
            isWhole = false
            guard skipDigits() > 0 else { throw Mistake(offset: index, reason: "expected a digit, found \(found)") }
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isWhole = false
            _ = skip(UInt8(ascii: "+")) || skip(UInt8(ascii: "-"))
            guard skipDigits() > 0 else { throw Mistake(offset: index, reason: "expected a digit, found \(found)") }
        }
        try receiver.number(bytes[start..<index], isWhole: isWhole)
    }

    private mutating func skipDigits() -> Int {
        let start = index
        while let byte = next, byte.isDigit { index += 1 }
        return index - start
    }
}

// MARK: Bytes

extension JSONGrammar {
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The text at the index, for messages.
    private var found: String { bytes.found(at: index) }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte.isSpace { index += 1 }
    }
}

extension [UInt8] {
    /// Returns the offset after `text` if the text is at the given offset.
    func end(of text: String, at offset: Int) -> Int? {
        var end = offset
        for byte in text.utf8 {
            guard end < count, self[end] == byte else { return nil }
            end += 1
        }
        return end
    }

    /// Returns the text at an offset, for messages.
    func found(at offset: Int) -> String {
        guard offset < count else { return "the end of the file" }
        let character = String(decoding: self[offset...].prefix(4), as: UTF8.self).first.map(String.init) ?? ""
        return "`\(character)`"
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
