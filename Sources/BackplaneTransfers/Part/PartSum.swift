/// An incremental checksum of the bytes of a part file.
///
/// It detects edits, truncation and lost pages, but not malicious changes. Each step is reversible, so a changed word
/// always changes the sum.
struct PartSum: Sendable {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The bytes of an incomplete word, in little-endian order.
    private var rest: UInt64 = 0
    private var restCount = 0

    /// The sum of all bytes so far.
    var value: UInt64 { Self.mixed(Self.mixed(state, rest), UInt64(restCount)) }

    /// Adds bytes, in chunks of any size.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while restCount > 0, index < bytes.count {
            add(bytes[index])
            index += 1
        }
        // Without checks of bounds for each word, which would cost more than the sum.
        let words = (bytes.count - index) / 8
        if words > 0, var place = bytes.baseAddress.map({ $0 + index }) {
            var sum = state
            for _ in 0..<words {
                sum = Self.mixed(sum, UInt64(littleEndian: place.loadUnaligned(as: UInt64.self)))
                place += 8
            }
            state = sum
            index += words * 8
        }
        while index < bytes.count {
            add(bytes[index])
            index += 1
        }
    }

    private mutating func add(_ byte: UInt8) {
        rest |= UInt64(byte) << UInt64(8 * restCount)
        restCount += 1
        guard restCount == 8 else { return }
        state = Self.mixed(state, rest)
        (rest, restCount) = (0, 0)
    }

    @inline(__always)
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0x9E37_79B9_7F4A_7C15  // odd, and so reversible
        return product ^ (product >> 32)
    }

    /// Returns the sum of a text's bytes.
    static func of(_ text: String) -> UInt64 {
        var sum = PartSum(), text = text
        text.withUTF8 { sum.add(UnsafeRawBufferPointer($0)) }
        return sum.value
    }
}

extension UInt64 {
    /// The number as 16 hexadecimal digits.
    var digits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
