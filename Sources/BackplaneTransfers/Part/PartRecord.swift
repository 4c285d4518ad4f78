import FoundationEssentials

/// The origin of a part's bytes: the resource, its version and its length.
struct PartOrigin: Sendable, Equatable {
    /// The checksum of the URL, which itself may contain secrets.
    var resource: UInt64
    /// The strong validator of the version (RFC 9110, section 8.8.1); `nil` if the server provides none.
    var validator: String?
    /// The number of bytes of the whole file, if the server has announced it.
    var length: Int64?
}

/// A number of bytes at the beginning of a part file, and their checksum.
struct PartMark: Sendable, Equatable {
    var count: Int64
    var sum: UInt64
}

/// The file next to a part file, which records its origin and progress.
///
/// | bytes | content |
/// |---|---|
/// | 0 ..< 4,096 | the origin as an object of JSON, a line break, its checksum in 16 digits; then spaces |
/// | from 4,096 | 256 slots of 51 bytes for marks, which are used in turn |
///
/// A slot without a mark contains zeros. A mark is its count, its checksum and the checksum of both, 16 hexadecimal
/// digits each, with spaces between them and a line break. It is written after its bytes, and does not imply that they
/// are on the disk: the code that continues a part verifies the checksums, and uses the greatest valid mark. A mark
/// invalidated by a power failure is therefore harmless, and there cannot be a mark of another version, because a new
/// origin empties the file.
struct PartRecord: Sendable, Equatable {
    static let originSize = 4_096, markSize = 51, places = 256
    /// The number of bytes of the file.
    static let size = originSize + places * markSize
    /// The maximum length of a validator; a longer one is ignored.
    static let longestValidator = 1_024

    var origin: PartOrigin
    /// The marks in ascending order.
    var marks: [PartMark] = []

    /// Creates the record of a part without marks.
    init(origin: PartOrigin) { self.origin = origin }

    /// Parses a record; returns `nil` if its origin is damaged.
    init?(_ bytes: [UInt8]) {
        let lines = bytes.prefix(Self.originSize).split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        guard bytes.count >= Self.originSize, lines.count == 2,
            let text = String(validating: lines[0], as: UTF8.self),
            Self.number(lines[1].prefix(16)) == PartSum.of(text),
            let form = try? JSONDecoder().decode(OriginForm.self, from: Data(lines[0])), let origin = form.origin
        else { return nil }
        self.origin = origin
        var start = Self.originSize
        while start + Self.markSize <= bytes.count {
            if let mark = Self.mark(bytes[start..<start + Self.markSize]) { marks.append(mark) }
            start += Self.markSize
        }
        marks.sort { $0.count < $1.count }
    }

    /// The bytes of the origin in the file.
    var originBytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and numbers always encode.
        let text = (try? encoder.encode(OriginForm(origin))).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let bytes = Array("\(text)\n\(PartSum.of(text).digits)\n".utf8)
        return bytes + [UInt8](repeating: UInt8(ascii: " "), count: max(0, Self.originSize - bytes.count))
    }

    /// Returns the bytes of a mark in the file.
    static func bytes(of mark: PartMark) -> [UInt8] {
        let text = "\(UInt64(mark.count).digits) \(mark.sum.digits)"
        return Array("\(text) \(PartSum.of(text).digits)\n".utf8)
    }

    private static func mark(_ bytes: ArraySlice<UInt8>) -> PartMark? {
        let parts = bytes.dropLast().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, let count = number(parts[0]).flatMap({ Int64(exactly: $0) }),
            let sum = number(parts[1]),
            number(parts[2]) == PartSum.of(String(decoding: bytes.prefix(33), as: UTF8.self))
        else { return nil }
        return PartMark(count: count, sum: sum)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard digits.count == 16 else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}

/// The JSON form of the origin.
private struct OriginForm: Codable {
    var part = 1
    var resource: String
    var validator: String?
    var length: Int64?

    init(_ origin: PartOrigin) {
        (resource, validator, length) = (origin.resource.digits, origin.validator, origin.length)
    }

    var origin: PartOrigin? {
        guard part == 1, let number = UInt64(resource, radix: 16), length ?? 0 >= 0 else { return nil }
        return PartOrigin(resource: number, validator: validator, length: length)
    }
}
