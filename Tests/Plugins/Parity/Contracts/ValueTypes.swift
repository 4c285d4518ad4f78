public import FoundationEssentials

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
