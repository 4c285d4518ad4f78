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
