internal import Backplane
internal import FoundationEssentials

/// Reads XML property lists, and says where a mistake is.
///
/// Foundation's decoder gives no column, drops a key that is there twice, cannot read a key `$null`, and recurses without a
/// limit of its own.
struct PropertyListReader: ManifestTextReader {
    let bytes: [UInt8]
    var index = 0
    private var depth = 0
    private var valuesLeft = ManifestLimits.values

    init(_ data: Data) {
        bytes = Array(data.withoutByteOrderMark)
    }

    mutating func document() throws(Mistake) -> ManifestValue {
        var tag = try nextTag()
        let isWrapped = tag.name == "plist"
        if isWrapped { tag = try nextTag() }
        if tag.isEnd { throw Mistake(offset: tag.offset, reason: "there is nothing here; a manifest is a dictionary") }
        let value = try value(tag)
        if isWrapped { try end(of: "plist") }
        try skipSpace()
        if index < bytes.count { throw Mistake(offset: index, reason: "\(found) after the end of the property list") }
        return value
    }

    private mutating func value(_ tag: Tag) throws(Mistake) -> ManifestValue {
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw Mistake(offset: tag.offset, reason: ManifestLimits.tooManyValues, code: .manifestUnsupported) }
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

    private mutating func nested(_ tag: Tag, _ body: (inout Self) throws(Mistake) -> ManifestValue) throws(Mistake) -> ManifestValue {
        depth += 1
        guard depth <= ManifestLimits.depth else {
            throw Mistake(offset: tag.offset, reason: ManifestLimits.tooDeep, code: .manifestUnsupported)
        }
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func members(_ dictionary: Tag) throws(Mistake) -> [String: ManifestValue] {
        var members: [String: ManifestValue] = [:]
        while !dictionary.isEmpty {
            let tag = try nextTag()
            if tag.isEnd(of: dictionary) { break }
            guard tag.name == "key", !tag.isEnd else { throw Mistake(offset: tag.offset, reason: "expected `<key>` or `</dict>`, found `\(tag.text)`") }
            let key = try text(of: tag), next = try nextTag()
            guard !next.isEnd else { throw Mistake(offset: next.offset, reason: "the key `\(key)` has no value") }
            guard key.utf8.count <= ManifestLimits.key else { throw Mistake(offset: tag.offset, reason: ManifestLimits.keyTooLong, code: .manifestUnsupported) }
            guard members.updateValue(try value(next), forKey: key) == nil else {
                throw Mistake(offset: tag.offset, reason: "the key `\(key)` is here for the second time")
            }
        }
        return members
    }

    private mutating func elements(_ array: Tag) throws(Mistake) -> [ManifestValue] {
        var elements: [ManifestValue] = []
        while !array.isEmpty {
            let tag = try nextTag()
            if tag.isEnd(of: array) { break }
            elements.append(try value(tag))
        }
        return elements
    }
}
