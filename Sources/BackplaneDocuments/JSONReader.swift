public import FoundationEssentials

/// A strict reader of JSON (RFC 8259) in UTF-8 that returns one token after another, at any depth.
///
/// `JSONDecoder` reports neither line nor column. It silently drops duplicate keys, so a manager could disappear.
package struct JSONReader {
    package enum Token: Equatable {
        case null, number, array, object
        case bool(Bool)
        case string(String)
        /// The end of an array or object.
        case end
    }

    private let bytes: [UInt8]
    let subject: DocumentSubject
    /// A Boolean value that indicates whether half of a surrogate pair is an error, rather than read as U+FFFD.
    private let isStrict: Bool
    private let mostDepth: Int
    /// The offsets of the last token and of the text after it.
    package private(set) var start = 0, end = 0
    /// The key of the last value; `nil` if it is not in an object.
    package private(set) var key: String?
    private(set) var keyStart = 0
    /// The bytes that close the open arrays and objects.
    private var closers: [UInt8] = []
    /// A Boolean value that indicates whether no value of the innermost container has been read.
    private var isFirst = true

    /// The maximum depth of texts that are read by recursion, as in Foundation's decoder.
    package static let recursionDepth = 512

    package init(
        _ bytes: [UInt8], as subject: DocumentSubject = .document, isStrict: Bool = false, depth: Int = .max
    ) {
        (self.bytes, self.subject, self.isStrict, mostDepth) = (bytes, subject, isStrict, depth)
    }

    /// The last token as it is written.
    package var text: ArraySlice<UInt8> { bytes[start..<end] }

    /// Reads the next token; returns `nil` at the end of the text.
    package mutating func next() throws(DocumentError) -> Token? {
        skipSpace()
        (start, key) = (end, nil)
        if let closer = closers.last {
            if skip(closer) {
                closers.removeLast()
                isFirst = false
                return .end
            }
            if !isFirst {
                guard skip(UInt8(ascii: ",")) else { throw expected("`,` or `\(Unicode.Scalar(closer))`") }
                skipSpace()
            }
            if closer == UInt8(ascii: "}") { try readKey() }
        } else if end == bytes.count {
            if isFirst {
                throw error("the \(subject.noun) is empty" + (subject.root.map { "; \($0)" } ?? ""))
            }
            return nil
        } else if !isFirst {
            throw error("\(found) after the end of the \(subject.noun)")
        }
        start = end
        isFirst = false
        return try value()
    }

    /// Reads the rest of the value that begins with the last token, and returns the value's place.
    package mutating func rest(of token: Token) throws(DocumentError) -> Range<Int> {
        let start = start, outer = closers.count - 1
        if token == .array || token == .object { while closers.count > outer { _ = try next() } }
        return start..<end
    }

    private mutating func value() throws(DocumentError) -> Token {
        switch byte {
        case UInt8(ascii: "{"): return try open(.object, UInt8(ascii: "}"))
        case UInt8(ascii: "["): return try open(.array, UInt8(ascii: "]"))
        case UInt8(ascii: "\""): return .string(try string())
        case _ where isDigit || byte == UInt8(ascii: "-"):
            try readNumber()
            return .number
        default:
            for (word, token) in [("true", Token.bool(true)), ("false", .bool(false)), ("null", .null)]
            where bytes[end...].starts(with: word.utf8) {
                end += word.utf8.count
                return token
            }
            throw expected("a value")
        }
    }

    private mutating func open(_ token: Token, _ closer: UInt8) throws(DocumentError) -> Token {
        guard closers.count < mostDepth else { throw error(DocumentLimits.tooDeep(mostDepth), .unsupported) }
        closers.append(closer)
        end += 1
        isFirst = true
        return token
    }

    private mutating func readKey() throws(DocumentError) {
        guard byte == UInt8(ascii: "\"") else { throw expected("a key in quotes") }
        keyStart = end
        let key = try string()
        self.key = key
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw expected("`:` after `\(String(key.unicodeScalars.prefix(40)))`") }
        skipSpace()
    }

    private mutating func string() throws(DocumentError) -> String {
        let start = end
        end += 1
        while let byte, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { end += 1 }
        var text = bytes[(start + 1)..<end]
        while let byte, byte != UInt8(ascii: "\"") {
            if byte < 0x20 { throw error("a control character in a string; write it as an escape such as `\\n`") }
            end += 1
            if byte == UInt8(ascii: "\\") {
                text += String(try escape()).utf8
            } else {
                text.append(byte)
            }
        }
        guard skip(UInt8(ascii: "\"")) else { throw error("this string does not end", at: start) }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw error("this string is not UTF-8", at: start)
        }
        return string
    }

    private mutating func escape() throws(DocumentError) -> Unicode.Scalar {
        let start = end - 1
        defer { end += 1 }
        switch byte {
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
            let after = end
            if UTF16.isLeadSurrogate(unit), bytes[(end + 1)...].starts(with: #"\u"#.utf8) {
                end += 2
                let trail = try codeUnit()
                let value = 0x10000 + UInt32(unit & 0x3FF) << 10 + UInt32(trail & 0x3FF)
                if UTF16.isTrailSurrogate(trail), let scalar = Unicode.Scalar(value) { return scalar }
            }
            if isStrict { throw error("half of a surrogate pair", at: start) }
            end = after
            return "\u{FFFD}"
        default: throw error("an unknown escape", at: start)
        }
    }

    /// Reads four hexadecimal digits after the `u` at the end, and leaves the end at the last digit.
    private mutating func codeUnit() throws(DocumentError) -> UInt16 {
        let digits = String(decoding: bytes[(end + 1)...].prefix(4), as: UTF8.self)
        guard digits.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt16(digits, radix: 16) else {
            throw error("expected four hexadecimal digits after `\\u`", at: end - 1)
        }
        end += 4
        return unit
    }

    private mutating func readNumber() throws(DocumentError) {
        _ = skip(UInt8(ascii: "-"))
        let leadingZero = byte == UInt8(ascii: "0"), digits = skipDigits()
        guard digits == 1 || digits > 1 && !leadingZero else {
            throw error("a number starts with a digit, and with 0 only if no other digit follows", at: start)
        }
        if skip(UInt8(ascii: ".")), skipDigits() == 0 { throw expected("a digit") }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            _ = skip(UInt8(ascii: "+")) || skip(UInt8(ascii: "-"))
            if skipDigits() == 0 { throw expected("a digit") }
        }
    }

    private mutating func skipDigits() -> Int {
        let start = end
        while isDigit { end += 1 }
        return end - start
    }

    private var isDigit: Bool { byte.map((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) ?? false }

    private var byte: UInt8? { end < bytes.count ? bytes[end] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard self.byte == byte else { return false }
        end += 1
        return true
    }

    private mutating func skipSpace() { while let byte, byte.isSpace { end += 1 } }

    private func expected(_ what: String) -> DocumentError { error("expected \(what), found \(found)") }

    /// The text at the end, for messages.
    private var found: String {
        guard end < bytes.count else { return "the end of the file" }
        return "`\(String(decoding: bytes[end...].prefix(4), as: UTF8.self).prefix(1))`"
    }

    /// Returns an error at an offset, by default the end.
    func error(_ reason: String, _ kind: DocumentError.Kind = .malformed, at offset: Int? = nil) -> DocumentError {
        let offset = offset ?? end
        return DocumentError(kind, reason, at: SourcePosition.positions(of: [offset], in: bytes)[offset])
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte is white space in JSON (RFC 8259, section 2) and XML (2.3).
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension JSONReader {
    /// Returns whether bytes are JSON, without the limits of ``DocumentLimits`` and without a byte order mark.
    ///
    /// Foundation's reader also accepts other encodings.
    package static func isJSON(_ bytes: [UInt8]) -> Bool {
        var reader = Self(bytes)
        do { while try reader.next() != nil {} } catch { return false }
        return true
    }

    /// Returns the only element of an array, byte for byte; `nil` for anything else.
    package static func onlyElement(of array: [UInt8]) throws(DocumentError) -> [UInt8]? {
        var reader = Self(array)
        guard try reader.next() == .array, let token = try reader.next(), token != .end else { return nil }
        let place = try reader.rest(of: token)
        guard try reader.next() == .end, try reader.next() == nil else { return nil }
        return Array(array[place])
    }
}

extension DocumentValue {
    /// Parses JSON text strictly.
    ///
    /// - Parameter subject: The name of the document in errors.
    /// - Throws: ``DocumentError`` with line and column, including for a document that exceeds ``DocumentLimits``.
    public init(json bytes: Data, as subject: DocumentSubject = .document) throws(DocumentError) {
        try subject.require(bytes)
        var tree = JSONTree(bytes, as: subject)
        self = try tree.document()
    }
}

/// The values of a JSON text, with the places of the wanted values.
struct JSONTree {
    private var reader: JSONReader
    private var valuesLeft: Int
    /// The pointers whose places are wanted, with all their ancestors.
    private let wanted: Set<String>
    /// The places of the wanted values and their siblings; the place of a member includes its key.
    private(set) var extents: [String: Range<Int>] = [:]

    init(
        _ data: Data, as subject: DocumentSubject, wanted paths: [String] = [],
        depth: Int = DocumentLimits.depth, values: Int = DocumentLimits.values
    ) {
        reader = JSONReader(Array(data.withoutByteOrderMark), as: subject, isStrict: true, depth: depth)
        wanted = Set(paths.flatMap(\.pointerAndAncestors))
        valuesLeft = values
    }

    mutating func document() throws(DocumentError) -> DocumentValue {
        guard let token = try reader.next() else { return .null }
        let value = try value(token, at: DocumentPath())
        _ = try reader.next()  // refuses text after the end
        return value
    }

    /// Reads the rest of a value.
    ///
    /// - Parameter path: The path of the value; `nil` if neither its siblings nor values in it are wanted.
    private mutating func value(_ token: JSONReader.Token, at path: DocumentPath?) throws(DocumentError)
        -> DocumentValue
    {
        let start = reader.start, whole = reader.key == nil ? start : reader.keyStart
        valuesLeft -= 1
        if valuesLeft < 0 { throw reader.error(reader.subject.tooManyValues, .unsupported, at: start) }
        let path = wanted.isEmpty ? nil : path, inner = path.flatMap { wanted.contains($0.description) ? $0 : nil }
        let value: DocumentValue
        switch token {
        case .null, .end: value = .null
        case .bool(let bool): value = .bool(bool)
        case .string(let string): value = .string(string)
        case .number: value = try number(String(decoding: reader.text, as: UTF8.self))
        case .array:
            var elements: [DocumentValue] = []
            while let token = try reader.next(), token != .end {
                elements.append(try self.value(token, at: inner.map { $0 / elements.count }))
            }
            value = .array(elements)
        case .object: value = .dictionary(try members(at: inner))
        }
        if let path { extents[path.description] = whole..<reader.end }
        return value
    }

    private mutating func members(at path: DocumentPath?) throws(DocumentError) -> [String: DocumentValue] {
        var members: [String: DocumentValue] = [:]
        while let token = try reader.next(), let key = reader.key {
            let start = reader.keyStart
            if key.utf8.count > DocumentLimits.key {
                throw reader.error(DocumentLimits.keyTooLong, .unsupported, at: start)
            }
            let value = try value(token, at: path.map { $0 / key })
            if let other = members.index(forKey: key).map({ members[$0].key }) {
                let clash = key.clash(with: other)
                throw reader.error(clash.reason, clash.kind, at: start)
            }
            members[key] = value
        }
        return members
    }

    private func number(_ digits: String) throws(DocumentError) -> DocumentValue {
        if let integer = Int64(digits) { return .integer(integer) }
        guard let number = Double(digits), number.isFinite else {
            throw reader.error("a number out of range", at: reader.start)
        }
        return DocumentValue(canonical: number)
    }
}

extension SourcePosition {
    /// Returns the positions of the values of a JSON text at the given paths; a member has the position of its key.
    ///
    /// A missing value has the position of the nearest value that would contain it. Other formats have no positions.
    package static func positions(of paths: [String], in data: Data) -> [String: SourcePosition] {
        var tree = JSONTree(data, as: .document, wanted: paths)
        guard !paths.isEmpty, DocumentFormat(of: data) == .json, (try? tree.document()) != nil else { return [:] }
        let offsets = tree.extents.mapValues(\.lowerBound)
        let nearest: [String: Int] = paths.reduce(into: [:]) { nearest, path in
            nearest[path] = path.pointerAndAncestors.lazy.compactMap { offsets[$0] }.first
        }
        let positions = positions(of: Array(nearest.values), in: Array(data.withoutByteOrderMark))
        return nearest.compactMapValues { positions[$0] }
    }
}

/// The result of comparing two JSON documents, regardless of the order of an object's keys.
package enum JSONComparison: Sendable, Hashable {
    /// The documents have the same values.
    case equal
    /// The documents differ only in the order of the elements of arrays, such as those that encode a `Set`.
    case reordered
    /// The documents have different values, or one of them is not JSON.
    case different

    /// Compares two documents.
    ///
    /// This parses both documents, and sorts every array if they differ.
    package init(_ a: Data, _ b: Data) {
        func parsed(_ bytes: Data) -> DocumentValue? {
            var tree = JSONTree(bytes, as: .document, depth: JSONReader.recursionDepth, values: .max)
            return try? tree.document()
        }
        if a == b {
            self = .equal
        } else if let a = parsed(a), let b = parsed(b) {
            self = a == b ? .equal : a.sortingArrays == b.sortingArrays ? .reordered : .different
        } else {
            self = .different
        }
    }
}

extension DocumentValue {
    /// The value with the elements of every array sorted by their text.
    fileprivate var sortingArrays: DocumentValue {
        switch self {
        case .array(let elements):
            let sorted = elements.map(\.sortingArrays).map { (value: $0, text: $0.json) }
            return .array(sorted.sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.value))
        case .dictionary(let members): return .dictionary(members.mapValues(\.sortingArrays))
        default: return self
        }
    }
}
