#if Engines
/// The distinguished encoding of ASN.1 values (X.690), limited to the types that certificates need.
enum DER {
    static func sequence(_ elements: [UInt8]...) -> [UInt8] { tagged(0x30, elements.flatMap(\.self)) }

    static func set(_ element: [UInt8]) -> [UInt8] { tagged(0x31, element) }

    /// Returns an element with a context-specific tag that contains another one.
    static func explicit(_ number: UInt8, _ element: [UInt8]) -> [UInt8] { tagged(0xA0 | number, element) }

    /// Returns a value whose own tag is replaced with a context-specific one.
    static func implicit(_ number: UInt8, _ value: [UInt8]) -> [UInt8] { tagged(0x80 | number, value) }

    /// Returns a positive integer from its bytes, the most significant first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = bytes.drop { $0 == 0 }
        return tagged(2, (digits.first ?? 0x80) & 0x80 == 0 ? Array(digits) : [0] + digits)
    }

    static func boolean(_ value: Bool) -> [UInt8] { tagged(1, [value ? 0xFF : 0]) }

    static func bits(_ bytes: [UInt8]) -> [UInt8] { tagged(3, [0] + bytes) }

    static func octets(_ bytes: [UInt8]) -> [UInt8] { tagged(4, bytes) }

    static func text(_ text: String) -> [UInt8] { tagged(12, Array(text.utf8)) }

    /// Returns a time as `YYYYMMDDhhmmssZ`.
    static func time(_ text: String) -> [UInt8] { tagged(24, Array(text.utf8)) }

    /// Returns an object identifier, whose first two numbers are below 40.
    static func identifier(_ numbers: Int...) -> [UInt8] {
        var bytes = [UInt8(numbers[0] * 40 + numbers[1])]
        for number in numbers.dropFirst(2) {
            var digits = [UInt8(number & 0x7F)], rest = number >> 7
            while rest > 0 {
                digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            bytes += digits
        }
        return tagged(6, bytes)
    }

    private static func tagged(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        if value.count < 0x80 { return [tag, UInt8(value.count)] + value }
        var length: [UInt8] = [], rest = value.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + value
    }
}
#endif
