#if Engines
import Foundation

/// The checksum of a stored record, which detects bytes that changed after SQLite wrote them.
///
/// It is computed over the collection's number, the version, the length of the id, the id and the value, eight bytes at
/// a time in little-endian order, the last ones padded with zeros: each word is combined with the sum by `XOR`, the sum
/// is multiplied by 0x9E3779B97F4A7C15 and combined by `XOR` with its own upper half. Each step is a bijection of the
/// sum and of the word, so a change within one word is always detected.
enum RecordChecksum {
    static func of(collection: Int64, id: Data, version: Int64, value: [UInt8]) -> Int64 {
        value.withUnsafeBytes { of(collection: collection, id: id, version: version, value: $0) }
    }

    static func of(collection: Int64, id: Data, version: Int64, value: UnsafeRawBufferPointer) -> Int64 {
        var sum: UInt64 = 0
        add(UInt64(bitPattern: collection), to: &sum)
        add(UInt64(bitPattern: version), to: &sum)
        add(UInt64(id.count), to: &sum)
        id.withUnsafeBytes { add($0, to: &sum) }
        add(value, to: &sum)
        add(UInt64(value.count), to: &sum)
        return Int64(bitPattern: sum)
    }

    private static func add(_ bytes: UnsafeRawBufferPointer, to sum: inout UInt64) {
        var place = 0
        while place + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)), to: &sum)
            place += 8
        }
        guard place < bytes.count else { return }
        var word: UInt64 = 0
        for offset in place..<bytes.count { word |= UInt64(bytes[offset]) << UInt64(8 * (offset - place)) }
        add(word, to: &sum)
    }

    private static func add(_ word: UInt64, to sum: inout UInt64) {
        sum = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
        sum ^= sum >> 32
    }
}
#endif
