import Backplane
import BackplaneNetwork
import FoundationEssentials

/// The decoded names and values of a query or a form (WHATWG, URL, section 5.1).
struct FormFields {
    private static let limit = 1_000
    /// The names, in the order of their first values.
    private(set) var names: [String] = []
    private var valuesByName: [String: [String]] = [:]

    /// Parses a query or a form.
    ///
    /// - Throws: A problem with the status 400 if a name or a value is not UTF-8, or if there are more than 1,000.
    init(_ text: String, of part: String) throws(RouteProblem) {
        let pairs = text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: Self.limit)
        guard pairs.count <= Self.limit else {
            throw RouteProblem(400, "the \(part) has more than \(Self.limit) fields")
        }
        for pair in pairs {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = Self.decoded(pair[..<equals]), let value = Self.decoded(pair[equals...].dropFirst()) else {
                throw RouteProblem(400, "the \(part) has a name or a value that is not in UTF-8")
            }
            if valuesByName[name] == nil { names.append(name) }
            valuesByName[name, default: []].append(value)
        }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(validating: String(decoding: spaced, as: UTF8.self).percentDecoded, as: UTF8.self)
    }

    func values(_ name: String) -> [String] { valuesByName[name] ?? [] }

    /// Decodes a value.
    ///
    /// - Parameter part: The part of the request that contains the fields, for errors.
    func decode<Value: Decodable>(_ type: Value.Type, of part: String) throws -> Value {
        do { return try Value(from: FormDecoder(fields: self)) } catch {
            throw RouteProblem(decoding: part, error)
        }
    }
}

/// A decoder of fields into a type with a property for each name.
private struct FormDecoder: Decoder {
    let fields: FormFields
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Properties<Key>(fields: fields))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw DecodingError.nested([]) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw DecodingError.nested([]) }

    private struct Properties<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let fields: FormFields
        let codingPath: [any CodingKey] = []
        var allKeys: [Key] { fields.names.compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { !fields.values(key.stringValue).isEmpty }
        func decodeNil(forKey key: Key) -> Bool { fields.values(key.stringValue) == [""] }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            try ValueDecoder(values: fields.values(key.stringValue), codingPath: [key]).value(type)
        }
        func nestedContainer<Nested: CodingKey>(
            keyedBy _: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            throw DecodingError.nested([key])
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try superDecoder(forKey: key).unkeyedContainer()
        }
        func superDecoder() throws -> any Decoder { throw DecodingError.nested([]) }
        func superDecoder(forKey key: Key) -> any Decoder {
            ValueDecoder(values: fields.values(key.stringValue), codingPath: [key])
        }
    }
}

/// A decoder of the values of one name: a single value, or an array.
private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let values: [String]
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func value<T: Decodable>(_ type: T.Type) throws -> T {
        guard T.self == Date.self else { return try T(from: self) }
        guard let date = Date(iso8601: try text()) else { throw mistake(Mistake.expected(type, found: try text())) }
        return date as! T
    }

    private func text() throws -> String {
        guard let text = values.first else {
            let path = codingPath.dropLast(), key = codingPath.last ?? TextKey("")
            throw DecodingError.keyNotFound(key, .init(codingPath: Array(path), debugDescription: ""))
        }
        guard values.count == 1 else { throw mistake(Mistake.repeated(values.count)) }
        return text
    }

    private func plain<T: LosslessStringConvertible>() throws -> T {
        let text = try text()
        guard let value = T(text) else { throw mistake(Mistake.expected(T.self, found: text)) }
        return value
    }

    private func mistake(_ text: String) -> DecodingError {
        DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
    }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw DecodingError.nested(codingPath)
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(values: values, codingPath: codingPath) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { values.isEmpty || values == [""] }
    func decode(_: Bool.Type) throws -> Bool { try plain() }
    func decode(_: String.Type) throws -> String { try plain() }
    func decode(_: Double.Type) throws -> Double { try plain() }
    func decode(_: Float.Type) throws -> Float { try plain() }
    func decode(_: Int.Type) throws -> Int { try plain() }
    func decode(_: Int8.Type) throws -> Int8 { try plain() }
    func decode(_: Int16.Type) throws -> Int16 { try plain() }
    func decode(_: Int32.Type) throws -> Int32 { try plain() }
    func decode(_: Int64.Type) throws -> Int64 { try plain() }
    func decode(_: UInt.Type) throws -> UInt { try plain() }
    func decode(_: UInt8.Type) throws -> UInt8 { try plain() }
    func decode(_: UInt16.Type) throws -> UInt16 { try plain() }
    func decode(_: UInt32.Type) throws -> UInt32 { try plain() }
    func decode(_: UInt64.Type) throws -> UInt64 { try plain() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try value(type) }

    private struct Elements: UnkeyedDecodingContainer {
        let values: [String]
        let codingPath: [any CodingKey]
        private(set) var currentIndex = 0
        var count: Int? { values.count }
        var isAtEnd: Bool { currentIndex >= values.count }

        init(values: [String], codingPath: [any CodingKey]) { (self.values, self.codingPath) = (values, codingPath) }

        mutating func decodeNil() -> Bool { false }
        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().value(type) }
        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy _: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            throw DecodingError.nested(codingPath)
        }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            throw DecodingError.nested(codingPath)
        }
        mutating func superDecoder() throws -> any Decoder { try next() }

        private mutating func next() throws -> ValueDecoder {
            let path = codingPath + [TextKey(String(currentIndex))]
            guard !isAtEnd else {
                throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: "there is no such element"))
            }
            defer { currentIndex += 1 }
            return ValueDecoder(values: [values[currentIndex]], codingPath: path)
        }
    }
}

extension DecodingError {
    fileprivate static func nested(_ path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(.init(codingPath: path, debugDescription: "expected one value for each name"))
    }
}
