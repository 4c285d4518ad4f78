public import Backplane
public import FoundationEssentials

/// A method for every kind of value that crosses; each answers what it was handed, and what that looked like over
/// there.
public struct Values: Contract {
    public static let version: Version = "1.0.0"
    public let nothing = AsyncMethod<Nothing, Seen<Nothing>>()
    public let bool = AsyncMethod<Bool, Seen<Bool>>()
    public let integers = AsyncMethod<Integers, Seen<Integers>>()
    public let double = AsyncMethod<Double, Seen<Double>>()
    public let float = AsyncMethod<Float, Seen<Float>>()
    public let decimal = AsyncMethod<Decimal, Seen<Decimal>>()
    public let duration = AsyncMethod<Duration, Seen<Duration>>()
    public let string = AsyncMethod<String, Seen<String>>()
    public let glyphs = AsyncMethod<Glyphs, Seen<Glyphs>>()
    public let optional = AsyncMethod<Int?, Seen<Int?>>()
    public let nested = AsyncMethod<Int??, Seen<Int??>>()
    public let perhapsNothing = AsyncMethod<Nothing?, Seen<Nothing?>>()
    public let array = AsyncMethod<[Volume], Seen<[Volume]>>()
    public let contiguous = AsyncMethod<ContiguousArray<Int>, Seen<ContiguousArray<Int>>>()
    public let optionals = AsyncMethod<[Int?], Seen<[Int?]>>()
    public let byName = AsyncMethod<[String: Volume], Seen<[String: Volume]>>()
    public let byNumber = AsyncMethod<[Int: String], Seen<[Int: String]>>()
    public let byUUID = AsyncMethod<[UUID: Double], Seen<[UUID: Double]>>()
    public let byDate = AsyncMethod<[Date: [String]], Seen<[Date: [String]]>>()
    public let optionalsByName = AsyncMethod<[String: Int?], Seen<[String: Int?]>>()
    public let set = AsyncMethod<Set<Int>, Seen<Set<Int>>>()
    public let texts = AsyncMethod<Set<String>, Seen<Set<String>>>()
    public let ranges = AsyncMethod<Ranges, Seen<Ranges>>()
    public let date = AsyncMethod<Date, Seen<Date>>()
    public let data = AsyncMethod<Data, Seen<Data>>()
    public let url = AsyncMethod<URL, Seen<URL>>()
    public let urlComponents = AsyncMethod<URLComponents, Seen<URLComponents>>()
    public let uuid = AsyncMethod<UUID, Seen<UUID>>()
    public let place = AsyncMethod<Place, Seen<Place>>()
    public let volume = AsyncMethod<Volume, Seen<Volume>>()
    public let shape = AsyncMethod<Shape, Seen<Shape>>()
    public let suit = AsyncMethod<Suit, Seen<Suit>>()
    public let tree = AsyncMethod<Tree, Seen<Tree>>()
    public let sourced = AsyncMethod<Sourced<[Int]>, Seen<Sourced<[Int]>>>()
    public let forgetful = AsyncMethod<Forgetful, Seen<Forgetful>>()
    public let strict = AsyncMethod<Strict, Seen<Strict>>()
    /// Changes what it was handed, and answers that.
    public let amended = AsyncMethod<[Volume], [Volume]>()
    public let volumeNow = SyncMethod<Volume, Seen<Volume>>()
    public let amendedNow = SyncMethod<[Volume], [Volume]>()
    public init() {}
}

public struct Integers: Codable, Sendable, Hashable {
    public var int: Int
    public var uint: UInt
    public var int8: Int8
    public var uint8: UInt8
    public var int16: Int16
    public var uint16: UInt16
    public var int32: Int32
    public var uint32: UInt32
    public var int64: Int64
    public var uint64: UInt64
    public var int128: Int128
    public var uint128: UInt128

    public static let smallest = Integers(
        int: .min, uint: .min, int8: .min, uint8: .min, int16: .min, uint16: .min, int32: .min, uint32: .min,
        int64: .min, uint64: .min,
        int128: .min, uint128: .min)
    public static let largest = Integers(
        int: .max, uint: .max, int8: .max, uint8: .max, int16: .max, uint16: .max, int32: .max, uint32: .max,
        int64: .max, uint64: .max,
        int128: .max, uint128: .max)
}

/// What the standard library does not code by itself.
public struct Glyphs: Codable, Sendable, Hashable {
    public var character: Character
    public var scalar: Unicode.Scalar

    public init(_ character: Character, _ scalar: Unicode.Scalar) {
        (self.character, self.scalar) = (character, scalar)
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode([String].self)
        (character, scalar) = (Character(text[0]), text[1].unicodeScalars.first!)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode([String(character), String(Character(scalar))])
    }
}

public struct Ranges: Codable, Sendable, Hashable {
    public var half: Range<Int>
    public var closed: ClosedRange<String>
    public var from: PartialRangeFrom<Double>
    public var through: PartialRangeThrough<Int>
    public var upTo: PartialRangeUpTo<Int>

    public init(_ half: Range<Int>, _ closed: ClosedRange<String>, from: Double, through: Int, upTo: Int) {
        (self.half, self.closed, self.from, self.through, self.upTo) = (half, closed, from..., ...through, ..<upTo)
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.half == b.half && a.closed == b.closed && a.from.lowerBound == b.from.lowerBound
            && a.through.upperBound == b.through.upperBound
            && a.upTo.upperBound == b.upTo.upperBound
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(half) }
}

/// Where and when, in Foundation's words.
public struct Place: Codable, Sendable, Hashable {
    public var locale: Locale
    public var timeZone: TimeZone
    public var calendar: Calendar
    public var components: DateComponents
    public var interval: DateInterval
    public var path: IndexPath

    public init(
        _ locale: Locale, _ timeZone: TimeZone, _ calendar: Calendar, _ components: DateComponents,
        _ interval: DateInterval, _ path: IndexPath
    ) {
        (self.locale, self.timeZone, self.calendar) = (locale, timeZone, calendar)
        (self.components, self.interval, self.path) = (components, interval, path)
    }
}

/// A struct as contracts mostly have them.
public struct Volume: Codable, Sendable, Hashable {
    public struct Author: Codable, Sendable, Hashable {
        public var name: String
        public var born: Int?
    }
    public var id: Int
    public var title: String
    public var subtitle: String?
    public var authors: [Author]
    public var tags: Set<String>
    public var shape: Shape
    public var isLent = false

    public init(
        _ id: Int, _ title: String, subtitle: String? = nil, authors: [String: Int?] = [:], tags: Set<String> = [],
        shape: Shape = .point
    ) {
        (self.id, self.title, self.subtitle, self.tags, self.shape) = (id, title, subtitle, tags, shape)
        self.authors = authors.sorted { $0.key < $1.key }.map { Author(name: $0.key, born: $0.value) }
    }
}

public enum Shape: Codable, Sendable, Hashable {
    case point
    case circle(Double)
    case box(width: Int8, height: UInt64?)
    case labelled(String, [Shape])
}

public enum Suit: String, Codable, Sendable, CaseIterable {
    case clubs = "♣", diamonds = "♦", hearts = "♥", spades = ""
}

public indirect enum Tree: Codable, Sendable, Hashable {
    case leaf
    case node(Tree, label: String?)
    case many([Tree])

    /// A tree so many levels high.
    public static func high(_ levels: Int) -> Tree {
        (0..<levels).reduce(.leaf) { tree, _ in .many([tree]) }
    }
}

/// Codes less than it holds.
public struct Forgetful: Codable, Sendable, Hashable {
    public var kept: Int
    public var dropped = 0
    private enum CodingKeys: CodingKey { case kept }

    public init(kept: Int, dropped: Int) { (self.kept, self.dropped) = (kept, dropped) }
}

/// Looks at itself only when it is decoded.
public struct Strict: Codable, Sendable, Hashable {
    public var percent: Int

    public init(unchecked percent: Int) { self.percent = percent }

    public init(from decoder: any Decoder) throws {
        percent = try decoder.singleValueContainer().decode(Int.self)
        guard (0...100).contains(percent) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(percent) is no percentage"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(percent)
    }
}
