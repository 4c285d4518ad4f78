internal import FoundationEssentials

/// A reader of XML property lists that reports the position of a mistake.
///
/// Foundation's decoder reports no column, drops duplicate keys, cannot read a key `$null`, and has no recursion limit
/// of its own.
struct PropertyListReader: DocumentTextReader {
    private let subject: DocumentSubject
    let bytes: [UInt8]
    var index = 0
    private var depth = 0
    private var valuesLeft = DocumentLimits.values
    /// The pointers whose positions are requested, with all their ancestors.
    private var wanted: Set<String> = []
    /// The path of the value that is being read; `nil` if no value in it is requested.
    private var path: DocumentPath?
    /// The start offsets of the requested values; that of a member is its key's.
    private var offsets: [String: Int] = [:]

    init(_ data: Data, as subject: DocumentSubject) {
        self.subject = subject
        bytes = Array(data.withoutByteOrderMark)
    }

    /// Returns the positions of the values at the given paths; the position of a dictionary member is that of its key.
    static func positions(of paths: [String], in data: Data) -> [String: SourcePosition] {
        var reader = Self(data, as: .document)
        reader.wanted = Set(paths.flatMap(\.pointerAndAncestors))
        reader.path = DocumentPath()
        guard (try? reader.document()) != nil else { return [:] }
        return SourcePosition.positions(of: paths, by: reader.offsets, in: reader.bytes)
    }

    mutating func document() throws(Mistake) -> DocumentValue {
        try requireKnownEncoding()
        var tag = try nextTag()
        let isWrapped = tag.name == "plist"
        if isWrapped { tag = try nextTag() }
        if tag.isEnd { throw Mistake(offset: tag.offset, reason: subject.emptiness) }
        note(path, at: tag.offset)
        let value = try value(tag)
        if isWrapped { try end(of: "plist") }
        try skipSpace()
        if index < bytes.count { throw Mistake(offset: index, reason: "\(found) after the end of the property list") }
        return value
    }

    private mutating func value(_ tag: Tag) throws(Mistake) -> DocumentValue {
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw Mistake(offset: tag.offset, reason: DocumentLimits.tooManyValues(subject), kind: .unsupported)
        }
        switch tag.name {
        case _ where tag.isEnd: throw Mistake(offset: tag.offset, reason: "expected a value, found `</\(tag.name)>`")
        case "dict": return try nested(tag) { reader throws(Mistake) in .dictionary(try reader.members(tag)) }
        case "array": return try nested(tag) { reader throws(Mistake) in .array(try reader.elements(tag)) }
        case "true", "false":
            if !tag.isEmpty { try end(of: tag.name) }
            return .bool(tag.name == "true")
        case "key": throw Mistake(offset: tag.offset, reason: "expected a value, found `<key>`")
        case "string", "integer", "real", "data", "date": return try scalar(tag)
        default: throw Mistake(offset: tag.offset, reason: "a property list has no element `\(tag.name)`")
        }
    }

    private mutating func nested(_ tag: Tag, _ body: (inout Self) throws(Mistake) -> DocumentValue) throws(Mistake)
        -> DocumentValue
    {
        depth += 1
        guard depth <= DocumentLimits.depth else {
            throw Mistake(offset: tag.offset, reason: DocumentLimits.tooDeep, kind: .unsupported)
        }
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func members(_ dictionary: Tag) throws(Mistake) -> [String: DocumentValue] {
        var members: [String: DocumentValue] = [:]
        while !dictionary.isEmpty {
            let tag = try nextTag()
            if tag.isEnd(of: dictionary) { break }
            guard tag.name == "key", !tag.isEnd else {
                throw Mistake(offset: tag.offset, reason: "expected `<key>` or `</dict>`, found `\(tag.text)`")
            }
            let key = try text(of: tag), next = try nextTag()
            guard key.utf8.count <= DocumentLimits.key else {
                throw Mistake(offset: tag.offset, reason: DocumentLimits.keyTooLong, kind: .unsupported)
            }
            guard !next.isEnd else { throw Mistake(offset: next.offset, reason: "the key `\(key)` has no value") }
            let value = try inside(path.map { $0 / key }, at: tag.offset) { reader throws(Mistake) in
                try reader.value(next)
            }
            guard members.updateValue(value, forKey: key) == nil else {
                throw Mistake(offset: tag.offset, reason: "the key `\(key)` is repeated")
            }
        }
        return members
    }

    private mutating func elements(_ array: Tag) throws(Mistake) -> [DocumentValue] {
        var elements: [DocumentValue] = []
        while !array.isEmpty {
            let tag = try nextTag()
            if tag.isEnd(of: array) { break }
            let value = try inside(path.map { $0 / elements.count }, at: tag.offset) { reader throws(Mistake) in
                try reader.value(tag)
            }
            elements.append(value)
        }
        return elements
    }

    /// Reads a value at a path, and records where it begins if requested.
    private mutating func inside(
        _ path: DocumentPath?, at offset: Int, _ read: (inout Self) throws(Mistake) -> DocumentValue
    ) throws(Mistake) -> DocumentValue {
        guard let outer = self.path else { return try read(&self) }
        self.path = path.flatMap { wanted.contains($0.description) ? $0 : nil }
        note(self.path, at: offset)
        defer { self.path = outer }
        return try read(&self)
    }

    private mutating func note(_ path: DocumentPath?, at offset: Int) {
        if let path { offsets[path.description] = offset }
    }
}
