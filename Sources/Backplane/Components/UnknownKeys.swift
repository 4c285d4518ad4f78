import FoundationEssentials

/// A value decoded from JSON, together with the keys that the value's type does not declare.
///
/// `JSONDecoder` ignores such keys silently, but in a configuration they are probably mistakes.
package struct KnownAndUnknown<Value: Decodable>: Decodable {
    package let value: Value
    /// The paths of the keys as JSON pointers, such as `/cache/keeep`.
    package let unknownKeys: [String]

    package init(from decoder: any Decoder) throws {
        let found = Found()
        value = try Value(from: KeyWatchingDecoder(base: decoder, found: found))
        unknownKeys = found.keys
    }
}

/// The unknown keys of one decoding, in the order in which they were found.
private final class Found {
    var keys: [String] = []
}

/// A decoder that forwards to another one and records the unknown keys of every dictionary.
private struct KeyWatchingDecoder: Decoder {
    let base: any Decoder
    let found: Found
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let path = codingPath.pointer
        let keys = try base.container(keyedBy: TextKey.self).allKeys
        found.keys += keys.filter { Key(stringValue: $0.stringValue) == nil }.map { path + $0.pointerStep }.sorted()
        return KeyedDecodingContainer(Keyed(base: try base.container(keyedBy: type), found: found))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        Unkeyed(base: try base.unkeyedContainer(), found: found)
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try base.singleValueContainer() }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let base: KeyedDecodingContainer<Key>
        let found: Found
        var codingPath: [any CodingKey] { base.codingPath }
        var allKeys: [Key] { base.allKeys }

        func contains(_ key: Key) -> Bool { base.contains(key) }
        func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: key) }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            // JSONDecoder reports missing values in its own way.
            guard !isOwn(type), base.contains(key), try !base.decodeNil(forKey: key) else {
                return try base.decode(type, forKey: key)
            }
            return try T(from: KeyWatchingDecoder(base: try base.superDecoder(forKey: key), found: found))
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
            -> KeyedDecodingContainer<Nested>
        {
            try base.nestedContainer(keyedBy: type, forKey: key)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try base.nestedUnkeyedContainer(forKey: key)
        }
        func superDecoder() throws -> any Decoder { try base.superDecoder() }
        func superDecoder(forKey key: Key) throws -> any Decoder { try base.superDecoder(forKey: key) }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        var base: any UnkeyedDecodingContainer
        let found: Found
        var codingPath: [any CodingKey] { base.codingPath }
        var count: Int? { base.count }
        var isAtEnd: Bool { base.isAtEnd }
        var currentIndex: Int { base.currentIndex }

        mutating func decodeNil() throws -> Bool { try base.decodeNil() }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            guard !isOwn(type), !base.isAtEnd else { return try base.decode(type) }
            return try T(from: KeyWatchingDecoder(base: try base.superDecoder(), found: found))
        }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<
            Nested
        > {
            try base.nestedContainer(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try base.nestedUnkeyedContainer()
        }
        mutating func superDecoder() throws -> any Decoder { try base.superDecoder() }
    }
}

/// Returns whether `JSONDecoder` handles the type specially.
private func isOwn(_ type: any Decodable.Type) -> Bool {
    type == Data.self || type == Date.self || type == URL.self || type == Decimal.self
}
