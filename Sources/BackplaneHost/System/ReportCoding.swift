public import Backplane

// Reports and options have the JSON of their Swift types, except for the values here.

extension KeyedEncodingContainer {
    /// Encodes a duration as a number of seconds, to the nanosecond and up to a thousand million.
    package mutating func encode(_ duration: Duration, forKey key: Key) throws {
        let (seconds, attoseconds) = max(.zero, min(duration, .seconds(1e9))).components
        try encode(Double(seconds * 1_000_000_000 + (attoseconds + 500_000_000) / 1_000_000_000) / 1e9, forKey: key)
    }

    package mutating func encodeIfPresent(_ duration: Duration?, forKey key: Key) throws {
        if let duration { try encode(duration, forKey: key) }
    }

    /// Encodes names in sorted order.
    mutating func encode(_ names: Set<String>, forKey key: Key) throws { try encode(names.sorted(), forKey: key) }
}

extension KeyedDecodingContainer {
    /// Decodes a duration from a number of seconds.
    package func decode(_: Duration.Type, forKey key: Key) throws -> Duration {
        let seconds = try decode(Double.self, forKey: key)
        guard (0...1e9).contains(seconds) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "expected a number of seconds from 0 to 1e9, found \(seconds)")
        }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    package func decodeIfPresent(_: Duration.Type, forKey key: Key) throws -> Duration? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try decode(Duration.self, forKey: key)
    }

    /// Decodes a word of an enumeration; the error for an unknown word lists the known ones.
    package func decode<Word: Decodable & CaseIterable & RawRepresentable<String>>(_: Word.Type, forKey key: Key)
        throws -> Word
    {
        let text = try decode(String.self, forKey: key)
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "expected one of \(words), found `\(text)`")
        }
        return word
    }

    package func decodeIfPresent<Word: Decodable & CaseIterable & RawRepresentable<String>>(
        _: Word.Type, forKey key: Key
    ) throws -> Word? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try decode(Word.self, forKey: key)
    }
}

extension Log.Level: Codable {
    /// Decodes the name of a level.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for another word.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer(), name = try container.decode(String.self)
        guard let level = Self.allCases.first(where: { "\($0)" == name }) else {
            let names = Self.allCases.map { "\($0)" }.joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected one of \(names), found `\(name)`")
        }
        self = level
    }

    /// Encodes the name of the level.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(self)")
    }
}
