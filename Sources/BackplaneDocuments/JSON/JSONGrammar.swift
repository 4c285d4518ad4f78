internal import Backplane
internal import FoundationEssentials

/// Reads JSON strictly (RFC 8259), and says where a mistake is.
///
/// `JSONDecoder` gives neither line nor column, and silently drops a key that is there twice: a manager would vanish.
struct JSONReader: ManifestTextReader {
    let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    private var valuesLeft = ManifestLimits.values
    /// Where it is; `nil`: at nothing whose offset is wanted.
    private var path: ManifestPath? = ManifestPath()
    /// The places whose offsets are wanted.
    private let wanted: Set<String>
    private var offsets: [String: Int] = [:]
    private var ends: [String: Int] = [:]

    init(_ data: Data) { self.init(data, wanted: []) }

    private init(_ data: Data, wanted: Set<String>) {
        bytes = Array(data.withoutByteOrderMark)
        self.wanted = wanted
    }

    /// Where the values at some paths are, a member of a dictionary at its key; of one that is missing, where the nearest
    /// that contains its place is.
    static func positions(of paths: [String], in data: Data) -> [String: SourcePosition] {
        var reader = Self(data, wanted: Set(paths.flatMap(\.pointerAndAncestors)))
        guard (try? reader.document()) != nil else { return [:] }
        let positions = SourcePosition.positions(of: Array(reader.offsets.values), in: reader.bytes)
        return paths.reduce(into: [:]) { found, path in
            found[path] = path.pointerAndAncestors.lazy.compactMap { reader.offsets[$0] }.first.flatMap { positions[$0] }
        }
    }

    /// From where to where the values at some paths go, a member of a dictionary from its key on; without a byte order mark.
    static func extents(of paths: [String], in data: Data) -> [String: Range<Int>] {
        var reader = Self(data, wanted: Set(paths.flatMap(\.pointerAndAncestors)))
        guard (try? reader.document()) != nil else { return [:] }
        return paths.reduce(into: [:]) { extents, path in
            if let start = reader.offsets[path], let end = reader.ends[path] { extents[path] = start..<end }
        }
    }

    mutating func document() throws(Mistake) -> ManifestValue {
        skipSpace()
        if index == bytes.count { throw Mistake(offset: index, reason: "there is nothing here; a manifest is a dictionary") }
        note(index)
        let value = try value()
        skipSpace()
        if index < bytes.count { throw Mistake(offset: index, reason: "\(found) after the end of the manifest") }
        return value
    }

    private mutating func value() throws(Mistake) -> ManifestValue {
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw Mistake(offset: index, reason: ManifestLimits.tooManyValues, code: .manifestUnsupported) }
        return switch next {
        case UInt8(ascii: "{"): try nested { reader throws(Mistake) in .dictionary(try reader.members()) }
        case UInt8(ascii: "["): try nested { reader throws(Mistake) in .array(try reader.elements()) }
        case UInt8(ascii: "\""): .string(try string())
        case UInt8(ascii: "-")?: try number()
        case let byte? where byte.isDigit: try number()
        case UInt8(ascii: "t"): try word("true", .bool(true))
        case UInt8(ascii: "f"): try word("false", .bool(false))
        case UInt8(ascii: "n"): try word("null", .null)
        default: throw Mistake(offset: index, reason: "expected a value, found \(found)")
        }
    }

    private mutating func nested(_ body: (inout Self) throws(Mistake) -> ManifestValue) throws(Mistake) -> ManifestValue {
        depth += 1
        guard depth <= ManifestLimits.depth else {
            throw Mistake(offset: index, reason: ManifestLimits.tooDeep, code: .manifestUnsupported)
        }
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func members() throws(Mistake) -> [String: ManifestValue] {
        var members: [String: ManifestValue] = [:]
        index += 1
        skipSpace()
        if skip(UInt8(ascii: "}")) { return members }
        while true {
            let start = index
            guard next == UInt8(ascii: "\"") else { throw Mistake(offset: index, reason: "expected a key in quotes, found \(found)") }
            let key = try string()
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { throw Mistake(offset: index, reason: "expected `:` after `\(key)`, found \(found)") }
            skipSpace()
            let value = try within({ $0 / key }, at: start)
            guard key.utf8.count <= ManifestLimits.key else { throw Mistake(offset: start, reason: ManifestLimits.keyTooLong, code: .manifestUnsupported) }
            guard members.updateValue(value, forKey: key) == nil else {
                throw Mistake(offset: start, reason: "the key `\(key)` is here for the second time")
            }
            skipSpace()
            if skip(UInt8(ascii: "}")) { return members }
            guard skip(UInt8(ascii: ",")) else { throw Mistake(offset: index, reason: "expected `,` or `}`, found \(found)") }
            skipSpace()
        }
    }

    private mutating func elements() throws(Mistake) -> [ManifestValue] {
        var elements: [ManifestValue] = []
        index += 1
        skipSpace()
        if skip(UInt8(ascii: "]")) { return elements }
        while true {
            let number = elements.count
            elements.append(try within({ $0 / number }, at: index))
            skipSpace()
            if skip(UInt8(ascii: "]")) { return elements }
            guard skip(UInt8(ascii: ",")) else { throw Mistake(offset: index, reason: "expected `,` or `]`, found \(found)") }
            skipSpace()
        }
    }

    /// Reads a value one step further in, which is told from `offset` on.
    private mutating func within(_ step: (ManifestPath) -> ManifestPath, at offset: Int) throws(Mistake) -> ManifestValue {
        // Below what nobody wants there is nothing wanted: of everything that is, its ancestors are too.
        guard !wanted.isEmpty, let outer = path else { return try value() }
        defer { path = outer }
        let inner = step(outer)
        path = wanted.contains(inner.description) ? inner : nil
        note(offset)
        let value = try value()
        if path != nil { ends[inner.description] = index }
        return value
    }

    private mutating func note(_ offset: Int) {
        if let path, wanted.contains(path.description) { offsets[path.description] = offset }
    }

    private mutating func word(_ word: String, _ value: ManifestValue) throws(Mistake) -> ManifestValue {
        guard bytes[index...].starts(with: word.utf8) else { throw Mistake(offset: index, reason: "expected a value, found \(found)") }
        index += word.utf8.count
        return value
    }
}

// MARK: Strings

extension JSONReader {
    private mutating func string() throws(Mistake) -> String {
        let start = index
        index += 1
        while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { index += 1 }
        var text = bytes[(start + 1)..<index]
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte < 0x20 { throw Mistake(offset: index, reason: "a control character in a string; write it as an escape such as `\\n`") }
            index += 1
            if byte == UInt8(ascii: "\\") {
                text += String(try escape()).utf8
            } else {
                text.append(byte)
            }
        }
        guard skip(UInt8(ascii: "\"")) else { throw Mistake(offset: start, reason: "this string does not end") }
        guard let string = String(validating: text, as: UTF8.self) else { throw Mistake(offset: start, reason: "this string is not UTF-8") }
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
            if UTF16.isLeadSurrogate(unit), bytes[(index + 1)...].starts(with: #"\u"#.utf8) {
                index += 2
                let trail = try codeUnit()
                let value = 0x10000 + UInt32(unit & 0x3FF) << 10 + UInt32(trail & 0x3FF)
                if UTF16.isTrailSurrogate(trail), let scalar = Unicode.Scalar(value) { return scalar }
            }
            throw Mistake(offset: start, reason: "half of a surrogate pair")
        default:
            throw Mistake(offset: start, reason: "an unknown escape")
        }
    }

    /// Four hexadecimal digits after the `u` at the index, which is left at the last of them.
    private mutating func codeUnit() throws(Mistake) -> UInt16 {
        let digits = bytes[(index + 1)...].prefix(4)
        guard digits.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw Mistake(offset: index - 1, reason: "expected four hexadecimal digits after `\\u`")
        }
        index += 4
        return unit
    }
}

// MARK: Numbers

extension JSONReader {
    private mutating func number() throws(Mistake) -> ManifestValue {
        let start = index
        _ = skip(UInt8(ascii: "-"))
        let leadingZero = next == UInt8(ascii: "0")
        guard case let digits = skipDigits(), digits == 1 || digits > 1 && !leadingZero else {
            throw Mistake(offset: start, reason: "a number begins with a digit, and with 0 only if no other follows")
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
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw Mistake(offset: start, reason: "a number out of range") }
        return ManifestValue(canonical: number)
    }

    private mutating func skipDigits() -> Int {
        let start = index
        while let byte = next, byte.isDigit { index += 1 }
        return index - start
    }
}

// MARK: Bytes

extension JSONReader {
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// What stands at the index, for messages.
    private var found: String {
        guard index < bytes.count else { return "the end of the file" }
        let character = String(decoding: bytes[index...].prefix(4), as: UTF8.self).first.map(String.init) ?? ""
        return "`\(character)`"
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }
}

extension String {
    /// A pointer, then what it is in, up to the root.
    fileprivate var pointerAndAncestors: [String] {
        var pointers = [self]
        while let slash = pointers[pointers.count - 1].unicodeScalars.lastIndex(of: "/") {
            pointers.append(String(pointers[pointers.count - 1][..<slash]))
        }
        return pointers
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
