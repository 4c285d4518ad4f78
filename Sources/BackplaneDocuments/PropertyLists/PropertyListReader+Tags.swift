extension PropertyListReader {
    /// A tag: `<name>`, `<name/>` or `</name>`.
    ///
    /// Attributes are ignored.
    struct Tag {
        var name: String
        var offset: Int
        var isEnd = false
        /// A Boolean value that indicates whether the tag is `<name/>`, which both begins and ends an element.
        var isEmpty = false

        var text: String { isEnd ? "</\(name)>" : "<\(name)>" }

        func isEnd(of other: Tag) -> Bool { isEnd && name == other.name }
    }

    /// Returns the next tag, skipping only spaces and comments before it.
    mutating func nextTag() throws(Mistake) -> Tag {
        try skipSpace()
        let start = index
        guard skip("<") else { throw Mistake(offset: index, reason: "expected `<`, found \(found)") }
        let isEnd = skip("/")
        let nameStart = index
        while index < bytes.count, bytes[index].isNameByte { index += 1 }
        guard index > nameStart, index - nameStart <= 64 else {
            throw Mistake(offset: start, reason: "expected an element, found \(found)")
        }
        var tag = Tag(name: String(decoding: bytes[nameStart..<index], as: UTF8.self), offset: start, isEnd: isEnd)
        while index < bytes.count, bytes[index] != UInt8(ascii: ">"), bytes[index] != UInt8(ascii: "<") { index += 1 }
        tag.isEmpty = bytes[index - 1] == UInt8(ascii: "/") && !isEnd
        guard skip(">") else { throw Mistake(offset: start, reason: "`\(tag.text.dropLast())` without its `>`") }
        return tag
    }

    mutating func end(of name: String) throws(Mistake) {
        let tag = try nextTag()
        guard tag.isEnd, tag.name == name else {
            throw Mistake(offset: tag.offset, reason: "expected `</\(name)>`, found `\(tag.text)`")
        }
    }

    /// Skips spaces, comments, processing instructions and the document type.
    mutating func skipSpace() throws(Mistake) {
        while index < bytes.count {
            let start = index
            if bytes[index].isSpace {
                index += 1
            } else if skip("<!--") {
                try skip(past: "-->", of: "comment", from: start)
            } else if skip("<?") {
                try skip(past: "?>", of: "processing instruction", from: start)
            } else if skip("<!DOCTYPE") {
                try skip(past: ">", of: "document type", from: start)
                guard !bytes[start..<index].contains(UInt8(ascii: "[")) else {
                    throw Mistake(
                        offset: start,
                        reason: "the document type contains declarations, which a property list cannot have",
                        kind: .unsupported)
                }
            } else {
                return
            }
        }
    }

    mutating func skip(_ text: String) -> Bool {
        guard let end = bytes.end(of: text, at: index) else { return false }
        index = end
        return true
    }

    mutating func skip(past end: String, of what: String, from start: Int) throws(Mistake) {
        while index < bytes.count {
            if skip(end) { return }
            index += 1
        }
        throw Mistake(offset: start, reason: "this \(what) does not end")
    }

    /// The text at the index, for messages.
    var found: String { bytes.found(at: index) }
}

extension UInt8 {
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
