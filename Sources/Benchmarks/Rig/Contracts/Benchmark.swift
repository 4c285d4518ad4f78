public import Backplane

/// The contract for measuring calls, whose methods do almost nothing, so that the measured time is that of the call.
public struct Benchmark: Contract {
    /// The version of this set of methods; the native lane requires the same on both sides.
    public static let version: Version = "1.1.0"
    /// Returns the number increased by one.
    public let add = AsyncMethod<Int, Int>()
    /// Returns the number increased by one, synchronously.
    public let addNow = SyncMethod<Int, Int>()
    /// Returns the parcel with its number increased by one.
    public let next = AsyncMethod<Parcel, Parcel>()
    /// Returns the parcel with its number increased by one, synchronously.
    public let nextNow = SyncMethod<Parcel, Parcel>()
    /// Streams as many numbers as requested, starting with 0.
    public let numbers = StreamMethod<Int, Int>()
    /// Streams as many parcels as requested, numbered from 0.
    public let parcels = StreamMethod<Int, Parcel>()
    /// Streams a number every second.
    public let ticks = StreamMethod<Nothing, Int>()
    /// Creates the contract with its methods.
    public init() {}
}

/// An earlier version of ``Benchmark``.
///
/// The native lane requires the same version on both sides, so calls through this contract are always encoded.
public struct EarlierBenchmark: Contract {
    /// The name of ``Benchmark``, which makes this a version of the same contract.
    public static let name = Benchmark.name
    /// The version of this set of methods, lower than that of ``Benchmark``.
    public static let version: Version = "1.0.0"
    /// Returns the parcel with its number increased by one.
    public let next = AsyncMethod<Parcel, Parcel>()
    /// Streams as many numbers as requested, starting with 0.
    public let numbers = StreamMethod<Int, Int>()
    /// Streams as many parcels as requested, numbered from 0.
    public let parcels = StreamMethod<Int, Parcel>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract of a component that is an actor.
public struct Tally: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Returns the number increased by one.
    public let add = AsyncMethod<Int, Int>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract for calls from one plugin to another: the whole loop runs in the calling plugin.
public struct Relay: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Makes a number of calls, each with the result of the previous one, beginning with 0; returns the last result.
    public let add = AsyncMethod<Int, Int>()
    /// Makes a number of calls with parcels, beginning with number 0; returns the number of the last one.
    public let next = AsyncMethod<Int, Int>()
    /// Makes the calls of `add`, with the method stored outside the loop.
    public let addHeld = AsyncMethod<Int, Int>()
    /// Makes the calls of `next`, with the method stored outside the loop.
    public let nextHeld = AsyncMethod<Int, Int>()
    /// Creates the contract with its methods.
    public init() {}
}
