public import BackplaneStorage

/// The keys of indexes: bytes that sort in the order of the values, so that every engine orders values alike.
///
/// A value consists of a byte for its kind and, for numbers and strings, of bytes that order them; no part of a key
/// after a value begins with the byte 255. A key consists of the values of an index's properties, one after another.
///
/// | value | bytes |
/// |---|---|
/// | `null`, `false`, `true` | 5; 16; 17 |
/// | a number | 32, the nearest `Double` in eight bytes in the order of numbers, and two bytes (below) |
/// | a string | 48, its UTF-8 bytes with 0, 255 for each zero, and 0 |
///
/// The two bytes are 32,768 plus the amount by which an integer exceeds the nearest `Double`.
public enum IndexKey {
    private static let null: UInt8 = 5, no: UInt8 = 16, yes: UInt8 = 17, number: UInt8 = 32, text: UInt8 = 48
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
        case .integer(let value):
            let near = Double(value)
            // The nearest number of an integer near `Int64.max` is beyond it.
            append(near, excess: Int(Int128(value) - Int128(near)), to: &key)
        case .number(let value): append(value == 0 ? 0 : value, excess: 0, to: &key)
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

    private static func append(_ value: Double, excess: Int, to key: inout [UInt8]) {
        let bits = value.bitPattern, sign = UInt64(1) << 63
        let ordered = bits & sign == 0 ? bits | sign : ~bits
        key.append(number)
        for shift in stride(from: 56, through: 0, by: -8) {
            key.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift)))
        }
        let biased = excess + 0x8000
        key.append(UInt8(truncatingIfNeeded: biased >> 8))
        key.append(UInt8(truncatingIfNeeded: biased))
    }

    /// Returns the first byte of keys of a value's kind, and the byte after the last one.
    static func kinds(like value: IndexedValue) -> (first: UInt8, end: UInt8) {
        switch value {
        case .null: (null, null + 1)
        case .boolean: (no, yes + 1)
        case .integer, .number: (number, number + 1)
        case .text: (text, text + 1)
        }
    }

    /// Returns a Boolean value that indicates whether one of the values in a key is `null`.
    package static func containsNull(_ key: [UInt8]) -> Bool {
        var place = 0
        while place < key.count {
            switch key[place] {
            case null: return true
            case number: place += 11
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
