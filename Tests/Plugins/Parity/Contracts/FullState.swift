public import Backplane
public import FoundationEssentials

/// Keeps a state.
public struct FullStateKeeping: Contract {
    public static let version: Version = "1.0.0"
    public let keep = AsyncMethod<FullState, Nothing>()
    public let kept = AsyncMethod<Nothing, FullState>()
    /// Adds a volume to those by name, and answers how many there are.
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

    public init() {}
}
