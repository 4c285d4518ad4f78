public import Backplane

/// What calls are measured with: next to nothing to do, so that what is left is the call.
public struct Yardstick: Contract {
    public static let version: Version = "1.1.0"
    /// One more.
    public let add = AsyncMethod<Int, Int>()
    public let addNow = SyncMethod<Int, Int>()
    /// The same parcel under the next number.
    public let next = AsyncMethod<Parcel, Parcel>()
    public let nextNow = SyncMethod<Parcel, Parcel>()
    public init() {}
}

/// ``Yardstick`` as its version before knew it.
///
/// The native lane wants the exact version on both sides: calls through this one are always encoded.
public struct EarlierYardstick: Contract {
    public static let name = Yardstick.name
    public static let version: Version = "1.0.0"
    public let next = AsyncMethod<Parcel, Parcel>()
    public init() {}
}

/// What an actor provides.
public struct Tally: Contract {
    public static let version: Version = "1.0.0"
    /// One more.
    public let add = AsyncMethod<Int, Int>()
    public init() {}
}

/// Calls of one plugin to another: the whole loop runs in the plugin that calls.
public struct Relay: Contract {
    public static let version: Version = "1.0.0"
    /// Makes so many calls, each with what the one before gave, from 0 on; answers what the last one gave.
    public let add = AsyncMethod<Int, Int>()
    /// The same with parcels; answers the last one's number.
    public let next = AsyncMethod<Int, Int>()
    /// As `add`, with the method kept outside of the loop.
    public let addHeld = AsyncMethod<Int, Int>()
    /// As `next`, with the method kept outside of the loop.
    public let nextHeld = AsyncMethod<Int, Int>()
    public init() {}
}
