import BackplaneDocuments
public import BackplaneStorage

/// The keys of indexes: bytes that sort in the order of the values, so that every engine orders values alike.
///
/// A value consists of a byte for its kind and, for numbers and strings, of bytes that order them. The bytes of one
/// value are never the beginning of another's. No part of a key after a value begins with the byte 255. A key consists
/// of the values of an index's properties, one after another.
///
/// | value | bytes |
/// |---|---|
/// | `null`, `false`, `true` | 5; 16; 17 |
/// | a number | 32, its sign in a byte and, unless it is zero, what follows (below) |
/// | a string | 48, its UTF-8 bytes with 0, 255 for each zero, and 0 |
///
/// A number is compared exactly as JSON writes it, so that large integers and `Decimal` remain distinct. It is encoded
/// as 0.d₁d₂d₃… · 10ᵉ without trailing zeros: four bytes for e, a byte for each two digits, and 0. In a negative number
/// all bytes after the sign are inverted.
public enum IndexKey {
    private static let null: UInt8 = 5, no: UInt8 = 16, yes: UInt8 = 17, number: UInt8 = 32, text: UInt8 = 48
    /// The signs of numbers, in the order of numbers.
    private static let negativeInfinity: UInt8 = 0, negative: UInt8 = 64, zero: UInt8 = 128, positive: UInt8 = 192,
        infinity: UInt8 = 224
    /// A byte that no value and no UTF-8 text begins or continues with.
    static let end: UInt8 = 255

    /// Returns the key for values.
    public static func bytes(of values: [IndexedValue]) -> [UInt8] {
        var key: [UInt8] = []
        for value in values { append(value, to: &key) }
        return key
    }

    /// Appends a value to a key.
    static func append(_ value: IndexedValue, to key: inout [UInt8]) {
        switch value {
        case .null: key.append(null)
        case .boolean(let value): key.append(value ? yes : no)
        case .integer(let value): append(decimal: "\(value)", to: &key)
        case .decimal(let text): append(decimal: text, to: &key)
        case .number(let value) where value.isFinite: append(decimal: "\(value)", to: &key)
        case .number(let value): key += [number, value < 0 ? negativeInfinity : infinity]
        case .text(let value):
            append(textPrefix: value, to: &key)
            key.append(0)
        }
    }

    /// Appends the leading bytes of the keys of all strings with a prefix.
    static func append(textPrefix prefix: String, to key: inout [UInt8]) {
        key.append(text)
        for byte in prefix.utf8 {
            key.append(byte)
            if byte == 0 { key.append(end) }
        }
    }

    /// Appends a number, given as JSON writes it.
    private static func append(decimal text: String, to key: inout [UInt8]) {
        var digits: [UInt8] = [], exponent = 0, isFraction = false
        let point = UInt8(ascii: "."), mark = UInt8(ascii: "e"), isNegative = text.utf8.first == UInt8(ascii: "-")
        for (place, byte) in zip(text.utf8.indices, text.utf8) {
            if byte == point { isFraction = true }
            if byte | 0x20 == mark {
                let rest = text[text.utf8.index(after: place)...]
                // An exponent that does not fit into `Int32` exceeds every limit.
                exponent += Int32(rest).map { Int($0) } ?? (rest.utf8.first == UInt8(ascii: "-") ? -(1 << 40) : 1 << 40)
                break
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { continue }
            if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte - UInt8(ascii: "0")) }
            if isFraction { exponent -= 1 }
        }
        exponent += digits.count
        while digits.last == 0 { digits.removeLast() }
        key += [number, digits.isEmpty ? zero : isNegative ? negative : positive]
        guard !digits.isEmpty else { return }
        let biased = UInt32(bitPattern: Int32(clamping: exponent)) ^ 0x8000_0000, mask: UInt8 = isNegative ? 255 : 0
        for shift in [24, 16, 8, 0] as [UInt32] { key.append(UInt8(truncatingIfNeeded: biased >> shift) ^ mask) }
        for place in stride(from: 0, to: digits.count, by: 2) {
            let second = place + 1 < digits.count ? digits[place + 1] : 0
            key.append((1 + 10 * digits[place] + second) ^ mask)
        }
        key.append(mask)
    }

    /// Returns the first byte of keys of a value's kind, and the byte after the last one.
    static func kinds(like value: IndexedValue) -> (first: UInt8, end: UInt8) {
        switch value {
        case .null: (null, null + 1)
        case .boolean: (no, yes + 1)
        case .integer, .decimal, .number: (number, number + 1)
        case .text: (text, text + 1)
        }
    }

    /// Returns a Boolean value that indicates whether one of the values in a key is `null`.
    package static func containsNull(_ key: [UInt8]) -> Bool {
        var place = 0
        while place < key.count {
            switch key[place] {
            case null: return true
            case number:
                let sign = key.dropFirst(place + 1).first
                place += 2
                guard sign == positive || sign == negative else { continue }
                place += 4
                while place < key.count, key[place] != (sign == positive ? 0 : 255) { place += 1 }
                place += 1
            case text:
                place += 1
                while place < key.count, key[place] != 0 || (place + 1 < key.count && key[place + 1] == end) {
                    place += key[place] == 0 ? 2 : 1
                }
                place += 1
            default: place += 1
            }
        }
        return false
    }

    /// Returns the key of a record in an index.
    ///
    /// - Parameters:
    ///   - value: The record in JSON; any unreadable part counts as `null`.
    ///   - paths: The key paths of the index, each split into names.
    package static func bytes(in value: [UInt8], at paths: [[[UInt8]]]) -> [UInt8] {
        var key: [UInt8] = []
        for value in IndexedProperties.values(in: value, at: paths) { append(value, to: &key) }
        return key
    }

    /// Returns the names of key paths.
    package static func names(of paths: [String]) -> [[[UInt8]]] {
        paths.map { $0.utf8.split(separator: UInt8(ascii: ".")).map { Array($0) } }
    }
}

/// The values of the properties at key paths, collected from a record's JSON in one pass.
///
/// A property is `null` if it is missing, a list or a dictionary, or follows an error in the JSON. If a name occurs
/// twice, the first one counts.
struct IndexedProperties {
    private struct Property {
        let path: [[UInt8]]
        /// The number of names of the path that the open dictionaries, or the current key, match.
        var level = 0
        var value: IndexedValue?
    }
    private var properties: [Property]
    private var depth = 0
    /// The number of properties whose value is not yet known.
    private var missing: Int

    /// Reads the values of the key paths, each split into names, and parses no more of the text than necessary.
    static func values(in json: [UInt8], at paths: [[[UInt8]]]) -> [IndexedValue] {
        var properties = Self(paths), reader = JSONReader(json)
        // Everything after an error is `null`.
        while properties.missing > 0, let token = try? reader.next() {
            if let key = reader.key { properties.enter(key) }
            properties.read(token, reader.text)
        }
        return properties.properties.map { $0.value ?? .null }
    }

    private init(_ paths: [[[UInt8]]]) {
        properties = paths.map { Property(path: $0) }
        missing = paths.count
    }

    private mutating func enter(_ key: String) {
        for index in properties.indices
        where properties[index].level == depth - 1 && properties[index].path.count >= depth {
            if key.utf8.elementsEqual(properties[index].path[depth - 1]) { properties[index].level = depth }
        }
    }

    private mutating func read(_ token: JSONReader.Token, _ text: ArraySlice<UInt8>) {
        switch token {
        case .array, .object:
            settle(.null) { [depth] property in token == .array || property.path.count == depth }
            depth += 1
        case .end:
            depth -= 1
            settle(.null) { _ in true }
        case .null: scalar(.null)
        case .bool(let value): scalar(.boolean(value))
        case .string(let text): scalar(.text(text))
        case .number:
            guard properties.contains(where: { isCurrent($0) }) else { return }
            scalar(.decimal(String(decoding: text, as: UTF8.self)))
        }
    }

    private mutating func scalar(_ value: IndexedValue) {
        settle(.null) { [depth] property in property.path.count != depth }
        settle(value) { _ in true }
    }

    /// Returns whether the value that begins or ends here is the target of a property's path, or an ancestor of it.
    private func isCurrent(_ property: Property) -> Bool { property.value == nil && property.level == depth }

    /// Sets the value of the properties whose path ends here.
    private mutating func settle(_ value: IndexedValue, _ isMeant: (_ property: Property) -> Bool) {
        for index in properties.indices where isCurrent(properties[index]) && isMeant(properties[index]) {
            properties[index].value = value
            missing -= 1
        }
    }
}

extension IndexedValue {
    /// Reads a single JSON value; returns `nil` if the text is not JSON, or is a list or a dictionary.
    package init?(json: [UInt8]) {
        let first = json.first { !Self.spaces.contains($0) }
        guard first != UInt8(ascii: "{"), first != UInt8(ascii: "["), JSONReader.isJSON(json) else { return nil }
        self = IndexedProperties.values(in: json, at: [[]])[0]
    }

    private static var spaces: [UInt8] { [0x20, 0x09, 0x0A, 0x0D] }
}
