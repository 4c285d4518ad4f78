public import Backplane

/// A contract of 25 methods over 50 different types, for measuring how long wiring takes to compare them.
public struct ManyMethods: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// A method that is wired and never called.
    public let int1 = AsyncMethod<Pair<Int, Int>, Pair<Int, Double>>()
    /// A method that is wired and never called.
    public let int2 = AsyncMethod<Pair<Int, String>, Pair<Int, Bool>>()
    /// A method that is wired and never called.
    public let int3 = AsyncMethod<Pair<Int, Parcel>, Pair<Int, [Int]>>()
    /// A method that is wired and never called.
    public let int4 = AsyncMethod<Pair<Int, [String]>, Pair<Int, Int?>>()
    /// A method that is wired and never called.
    public let int5 = AsyncMethod<Pair<Int, [String: Int]>, Pair<Int, Pair<Int, Int>>>()
    /// A method that is wired and never called.
    public let double1 = AsyncMethod<Pair<Double, Int>, Pair<Double, Double>>()
    /// A method that is wired and never called.
    public let double2 = AsyncMethod<Pair<Double, String>, Pair<Double, Bool>>()
    /// A method that is wired and never called.
    public let double3 = AsyncMethod<Pair<Double, Parcel>, Pair<Double, [Int]>>()
    /// A method that is wired and never called.
    public let double4 = AsyncMethod<Pair<Double, [String]>, Pair<Double, Int?>>()
    /// A method that is wired and never called.
    public let double5 = AsyncMethod<Pair<Double, [String: Int]>, Pair<Double, Pair<Int, Int>>>()
    /// A method that is wired and never called.
    public let string1 = AsyncMethod<Pair<String, Int>, Pair<String, Double>>()
    /// A method that is wired and never called.
    public let string2 = AsyncMethod<Pair<String, String>, Pair<String, Bool>>()
    /// A method that is wired and never called.
    public let string3 = AsyncMethod<Pair<String, Parcel>, Pair<String, [Int]>>()
    /// A method that is wired and never called.
    public let string4 = AsyncMethod<Pair<String, [String]>, Pair<String, Int?>>()
    /// A method that is wired and never called.
    public let string5 = AsyncMethod<Pair<String, [String: Int]>, Pair<String, Pair<Int, Int>>>()
    /// A method that is wired and never called.
    public let bool1 = AsyncMethod<Pair<Bool, Int>, Pair<Bool, Double>>()
    /// A method that is wired and never called.
    public let bool2 = AsyncMethod<Pair<Bool, String>, Pair<Bool, Bool>>()
    /// A method that is wired and never called.
    public let bool3 = AsyncMethod<Pair<Bool, Parcel>, Pair<Bool, [Int]>>()
    /// A method that is wired and never called.
    public let bool4 = AsyncMethod<Pair<Bool, [String]>, Pair<Bool, Int?>>()
    /// A method that is wired and never called.
    public let bool5 = AsyncMethod<Pair<Bool, [String: Int]>, Pair<Bool, Pair<Int, Int>>>()
    /// A method that is wired and never called.
    public let parcel1 = AsyncMethod<Pair<Parcel, Int>, Pair<Parcel, Double>>()
    /// A method that is wired and never called.
    public let parcel2 = AsyncMethod<Pair<Parcel, String>, Pair<Parcel, Bool>>()
    /// A method that is wired and never called.
    public let parcel3 = AsyncMethod<Pair<Parcel, Parcel>, Pair<Parcel, [Int]>>()
    /// A method that is wired and never called.
    public let parcel4 = AsyncMethod<Pair<Parcel, [String]>, Pair<Parcel, Int?>>()
    /// A method that is wired and never called.
    public let parcel5 = AsyncMethod<Pair<Parcel, [String: Int]>, Pair<Parcel, Pair<Int, Int>>>()
    /// Creates the contract with its methods.
    public init() {}
}

/// Two values; a generic type that yields 50 types from a few.
public struct Pair<First: Codable & Sendable, Second: Codable & Sendable>: Codable, Sendable {
    /// The first value.
    public var first: First
    /// The second value.
    public var second: Second

    /// Creates a pair of two values.
    public init(_ first: First, _ second: Second) {
        (self.first, self.second) = (first, second)
    }
}
