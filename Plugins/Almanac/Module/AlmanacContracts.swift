public import Backplane
public import BackplaneManagers

/// Something that happened on a day of the year.
public struct Event: Codable, Sendable, Hashable {
    /// Month and day, `07-20`.
    public var day: String
    public var year: Int
    public var text: String

    public init(day: String, year: Int, text: String) {
        (self.day, self.year, self.text) = (day, year, text)
    }
}

/// What the manager answers.
public struct Almanac: Contract {
    public static let version: Version = "1.0.0"
    /// What happened on a day such as `07-20`, the earliest first.
    public let on = AsyncMethod<String, Sourced<[Event]>>()
    public init() {}
}

/// What the data access controller keeps.
public struct AlmanacArchive: Contract {
    public static let version: Version = "1.0.0"
    public let keep = AsyncMethod<[Event], Nothing>()
    public let kept = AsyncMethod<Nothing, Kept<[Event]>?>()
    public init() {}
}

/// What the communication controller fetches.
public struct AlmanacNetwork: Contract {
    public static let version: Version = "1.0.0"
    public let all = AsyncMethod<Nothing, [Event]>()
    public init() {}
}

/// What the network service reads.
public struct EventFeed: Contract {
    public static let version: Version = "1.0.0"
    public let events = AsyncMethod<Nothing, [Event]>()
    public init() {}
}
