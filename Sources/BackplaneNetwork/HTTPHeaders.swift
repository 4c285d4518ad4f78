import Backplane

/// The header fields of a message, in order.
///
/// Names are compared case-insensitively (RFC 9110, section 5.1).
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A line of the header: a name and its value.
    public struct Field: Sendable, Equatable {
        /// The name as it was given.
        public var name: String
        /// The value as it was given, without the spaces and tabs at its ends (RFC 9110, section 5.5).
        public var value: String

        /// Returns whether two fields have the same value, and the same name regardless of case.
        public static func == (a: Self, b: Self) -> Bool { HTTPHeaders.equal(a.name, b.name) && a.value == b.value }
    }
    /// The fields in the order in which they were added.
    public private(set) var fields: [Field] = []

    /// Creates header fields from a literal, in order.
    ///
    /// A name may occur more than once.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(name, value) }
    }

    /// The first value of a field with a name.
    ///
    /// Setting a value replaces all fields of that name; setting `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.equal($0.name, name) }?.value }
        set {
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// Returns the values of all fields with a name, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { Self.equal($0.name, name) }.map(\.value)
    }

    /// Adds a field after all others, without replacing fields with the same name.
    public mutating func add(_ name: String, _ value: String) {
        let isTrimmed = value.utf8.first?.isBlank != true && value.utf8.last?.isBlank != true
        fields.append(Field(name: name, value: isTrimmed ? value : value.trimmingBlanks))
    }

    /// The names of the fields that frame a message, which executors set.
    package static let ofFraming: Set<String> = ["content-length", "transfer-encoding"]

    /// The names of the fields that carry no credentials.
    private static let forAnyone: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "expect", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "last-event-id", "pragma", "range", "user-agent",
    ]

    /// The fields that may be sent to another origin: any other field may be a credential.
    package var forAnyone: HTTPHeaders { filter(Self.isForAnyone) }

    /// Returns whether a field, by its name in lower case, carries no credentials.
    package static func isForAnyone(_ name: String) -> Bool { forAnyone.contains(name) || name.hasPrefix("content-") }

    /// Returns the fields whose names, in lower case, meet a condition.
    package func filter(_ isKept: (String) -> Bool) -> HTTPHeaders {
        var kept: HTTPHeaders = [:]
        kept.fields = fields.filter { isKept($0.name.lowercased()) }
        return kept
    }

    /// Returns whether two names are equal except for the case of ASCII letters, without creating strings.
    private static func equal(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8) { $0.lowercased == $1.lowercased }
    }
}

extension HTTPHeaders: Codable {
    /// Decodes header fields from an array of names and values.
    ///
    /// - Throws: `network.malformed` for an element that is not a pair of a name and a value.
    public init(from decoder: any Decoder) throws {
        for pair in try [[String]](from: decoder) {
            guard pair.count == 2 else {
                throw BackplaneError(
                    .networkMalformed, "a header field consists of a name and a value; found \(pair.count) strings")
            }
            add(pair[0], pair[1])
        }
    }

    /// Encodes the header fields as an array of names and values, in order.
    public func encode(to encoder: any Encoder) throws { try fields.map { [$0.name, $0.value] }.encode(to: encoder) }
}

/// A reader of a field's value, which reads each byte once (RFC 9110, section 5.6).
package struct FieldReader {
    private var rest: Substring.UTF8View

    package init(_ value: String) { rest = value[...].utf8 }

    package var next: UInt8? { rest.first }

    package mutating func skipBlanks() { rest = rest.drop(while: \.isBlank) }

    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    @discardableResult
    package mutating func take(while isTaken: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(Substring(taken))
    }

    /// Reads a quoted string after its first quote; returns `nil` if it does not end.
    package mutating func takeQuoted() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): if let escaped = rest.popFirst() { bytes.append(escaped) }
            default: bytes.append(byte)
            }
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

/// The evaluation of a request's conditions and range.
extension HTTPHeaders {
    /// Returns whether `If-None-Match` contains an entity tag, by a weak comparison (RFC 9110, section 13.1.2); `nil`
    /// without the field.
    package func ifNoneMatch(_ tag: String?) -> Bool? {
        let lists = values("If-None-Match")
        guard !lists.isEmpty else { return nil }
        let own = tag.flatMap { Self.entityTags($0).first }
        return lists.contains { Self.entityTags($0).contains { $0 == "*" || $0 == own } }
    }

    /// Returns the entity tags of a list, with their quotes and without the marks of weak tags; `*` remains unchanged.
    private static func entityTags(_ list: String) -> [String] {
        var reader = FieldReader(list), tags: [String] = []
        while true {
            reader.take { $0.isBlank || $0 == UInt8(ascii: ",") }
            if reader.take("*") {
                tags.append("*")
                continue
            }
            reader.take { $0 == UInt8(ascii: "W") || $0 == UInt8(ascii: "/") }
            guard reader.take("\"") else {
                // Some servers forget the quotes.
                let bare = reader.take { $0 != UInt8(ascii: ",") }
                guard !bare.isEmpty else { return tags }
                tags.append(bare.trimmingBlanks)
                continue
            }
            let tag = reader.take { $0 != UInt8(ascii: "\"") }
            guard reader.take("\"") else { return tags }
            tags.append("\"\(tag)\"")
        }
    }

    /// Returns the part of a body that `Range` requests (RFC 9110, section 14.2); empty if the body has no such part;
    /// `nil` if the field is missing, does not specify bytes, or requests several parts.
    package func range(of size: Int64) -> Range<Int64>? {
        guard let text = self["Range"], text.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty { return ends[1].wholeNumber.map { size - min($0, size)..<size } }
        guard let first = ends[0].wholeNumber, let last = ends[1].isEmpty ? .max : ends[1].wholeNumber, first <= last
        else { return nil }
        return min(first, size)..<max(min(first, size), min(last, size - 1) + 1)
    }
}
