public import Backplane
public import FoundationEssentials

/// Methods that return their input and the provider's description of it.
public struct Values: Contract {
    public static let version: Version = "1.0.0"
    /// Returns a state with every kind of value.
    public let full = AsyncMethod<FullState, Seen<FullState>>()
    public let fullNow = SyncMethod<FullState, Seen<FullState>>()
    public let nothing = AsyncMethod<Nothing, Seen<Nothing>>()
    public let perhapsNothing = AsyncMethod<Nothing?, Seen<Nothing?>>()
    public let optional = AsyncMethod<Int?, Seen<Int?>>()
    public let nested = AsyncMethod<Int??, Seen<Int??>>()
    /// Changes the input, and returns it.
    public let amended = AsyncMethod<[Volume], [Volume]>()
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

/// Types that are not `Codable` in the standard library.
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

/// Foundation's types for places and times.
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

/// A typical struct of contracts.
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

    /// Returns a tree with the given number of levels.
    public static func high(_ levels: Int) -> Tree {
        (0..<levels).reduce(.leaf) { tree, _ in .many([tree]) }
    }
}

/// A struct that encodes only some of its properties.
public struct Forgetful: Codable, Sendable, Hashable {
    public var kept: Int
    public var dropped = 0
    private enum CodingKeys: CodingKey { case kept }

    public init(kept: Int, dropped: Int) { (self.kept, self.dropped) = (kept, dropped) }
}

/// A struct that is validated only by decoding.
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

/// Methods that store and return a state.
public struct FullStateKeeping: Contract {
    public static let version: Version = "1.0.0"
    public let keep = AsyncMethod<FullState, Nothing>()
    public let kept = AsyncMethod<Nothing, FullState>()
    /// Adds a volume to the volumes by name, and returns their number.
    public let add = AsyncMethod<Volume, Int>()
    public init() {}
}

/// A state with every kind of value.
public struct FullState: Codable, Sendable, Equatable {
    public var flag = false
    public var integers: [Integers] = []
    public var doubles: [Double] = []
    public var floats: [Float] = []
    public var decimals: [Decimal] = []
    public var durations: [Duration] = []
    public var texts: [String] = []
    public var glyphs: [Glyphs] = []
    public var optional: Int?
    public var optionals: [Int?] = []
    public var contiguous: ContiguousArray<Int> = []
    public var byName: [String: Volume] = [:]
    public var byNumber: [Int: String] = [:]
    public var byUUID: [UUID: Double] = [:]
    public var byDate: [Date: [String]] = [:]
    public var numbers: Set<Int> = []
    public var words: Set<String> = []
    public var ranges: [Ranges] = []
    public var dates: [Date] = []
    public var data: [Data] = []
    public var addresses: [URL] = []
    public var parts: [URLComponents] = []
    public var ids: [UUID] = []
    public var places: [Place] = []
    public var shapes: [Shape] = []
    public var suits: [Suit] = []
    public var trees: [Tree] = []
    public var sourced: [Sourced<[Int]>] = []
    public var optionalsByName: [String: Int?] = [:]
    public var forgetful = Forgetful(kept: 1, dropped: 0)
    public var strict = Strict(unchecked: 100)

    public init() {}

    /// A state with every kind of value, including values that are easily lost.
    public static var sample: FullState {
        var full = FullState()
        full.flag = true
        full.integers = [.smallest, .largest]
        full.doubles = [
            -0.0, 0, 0.1, 1 / 3, -.pi, 1e22, .greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude,
            123_456_789_012_345_680,
        ]
        full.floats = [-0.0, 0, 0.1, -1 / 3, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        full.decimals =
            [
                "0", "0.1", "-12345678901234567890123456789012345678", "3.33333333333333333333333333333333333333",
            ].map { Decimal(string: $0)! } + [.greatestFiniteMagnitude, .leastNonzeroMagnitude]
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        full.durations = [.zero, .seconds(1) / 3, .nanoseconds(-1), longest]
        full.texts = [
            "", "\0", "a\0b", "\u{FEFF}x", "\r\n\t\u{1}\u{7F}\u{2028}\"\\/", "e\u{301}", "é", "👩‍👩‍👧",
            "\u{D7FF}\u{E000}\u{FFFD}\u{FFFF}\u{10FFFF}", String(repeating: "long é ", count: 1_000),
        ]
        full.glyphs = [Glyphs("e\u{301}", "\0"), Glyphs("👩‍👩‍👧", "\u{10FFFF}")]
        full.optional = 7
        full.optionals = [1, nil, 2]
        full.optionalsByName = ["a": nil, "b": 1]
        full.contiguous = [1, 2, 3]
        for number in 0..<300 {
            let volume = Volume(
                number, "Volume \(number)", subtitle: number.isMultiple(of: 2) ? nil : "",
                authors: ["Melville": 1819, "Nobody": nil], tags: ["whale", ""], shape: .circle(0.5))
            full.byName[volume.title] = volume
        }
        for name in ["", "e\u{301}", "\0"] { full.byName[name] = Volume(.min, name) }
        full.byNumber = [.min: "a", 0: "", .max: "b"]
        full.byUUID = [UUID(): 1, UUID(): -0.5]
        full.byDate = [.distantPast: [], .now: ["a"]]
        full.numbers = Set(0..<100).union([.min, .max])
        full.words = ["", "e\u{301}", "\0"]
        full.ranges = [
            Ranges(1..<5, "a"..."c", from: 0.5, through: -1, upTo: 7),
            Ranges(3..<3, ""..."", from: -1, through: .min, upTo: .max),
        ]
        full.dates = [
            .now, .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_789),
            Date(timeIntervalSinceReferenceDate: 1e-300),
        ]
        full.data = [Data(), Data((0...255).map { UInt8($0) }), Data(repeating: 7, count: 10_000)]
        full.addresses = [
            "http://a.b/c?d=é#f", "x/y", "file:///tmp/", "data:,", "http://a/%zz b", "http://[::1]:80/%2F",
        ].map { URL(string: $0)! }
        full.parts = ["", "http://u:p@h:80/a?q=1&r#f", "?#"].map { URLComponents(string: $0)! }
        full.ids = [UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000")!]
        var calendar = Calendar(identifier: .hebrew)
        (calendar.firstWeekday, calendar.timeZone, calendar.locale) = (
            4, TimeZone(identifier: "Asia/Tokyo")!, Locale(identifier: "fr")
        )
        var components = DateComponents(
            calendar: calendar, timeZone: TimeZone(identifier: "GMT-0030"), era: 1, year: 2, nanosecond: 8,
            weekOfYear: 2)
        components.isLeapMonth = true
        let interval = DateInterval(start: .now, duration: 5.5)
        full.places = [
            Place(
                Locale(identifier: "de_DE@currency=USD"), TimeZone(identifier: "Europe/Berlin")!, calendar, components,
                interval, [1, 2, 3]),
            Place(.current, .current, .current, DateComponents(), interval, []),
            Place(.autoupdatingCurrent, .autoupdatingCurrent, .autoupdatingCurrent, DateComponents(), interval, [0]),
        ]
        full.shapes = [
            .point, .circle(-0.5), .box(width: -3, height: nil), .box(width: .max, height: .max),
            .labelled("", [.point, .labelled("x", [])]),
        ]
        full.suits = Suit.allCases
        full.trees = [.leaf, .node(.leaf, label: nil), .many([.node(.many([]), label: "x"), .leaf]), .high(100)]
        full.sourced = [Sourced([1, 2], from: .network), Sourced([], from: .store(age: .seconds(90)))]
        return full
    }
}
