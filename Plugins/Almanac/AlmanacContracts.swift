public import Backplane

/// A historical event on a day of the year.
public struct Event: Codable, Sendable, Hashable {
    /// The month and day, such as `07-20`.
    public var day: String
    /// The year in which the event happened.
    public var year: Int
    /// A one-line description of the event.
    public var text: String

    /// Creates an event.
    ///
    /// - Parameter day: The month and day, such as `07-20`.
    public init(day: String, year: Int, text: String) {
        (self.day, self.year, self.text) = (day, year, text)
    }
}

/// The contract of the almanac's manager.
public struct Almanac: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.1.0"
    /// Returns the events of a day such as `07-20`, the earliest first.
    public let on = AsyncMethod<String, Sourced<[Event]>>()
    /// Streams all events in the order of the year's days, the earliest first within a day.
    public let events = StreamMethod<Nothing, Event>()
    /// Creates the contract with its methods.
    public init() {}

    /// The error that callers of the almanac catch: a text that is not a day of the year.
    public struct Failure: ContractError {
        /// The text that was given for a day.
        public var text: String
        /// The kind of the error: `almanac.not-a-day`.
        public var code: String { "almanac.not-a-day" }
        /// A description of the problem.
        public var message: String { "`\(text)` is not a day of the year; write month and day, such as 07-20" }

        /// Creates the error for a text.
        public init(text: String) { self.text = text }
    }
}

/// The contract of the almanac's data access controller, which stores the last events fetched.
public struct AlmanacArchive: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Replaces the stored events.
    public let keep = AsyncMethod<[Event], Nothing>()
    /// Returns the stored events and the time they were stored, or `nil` if there are none.
    public let kept = AsyncMethod<Nothing, Kept<[Event]>?>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract of the almanac's communication controller.
public struct AlmanacNetwork: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Fetches all events from the network.
    public let all = AsyncMethod<Nothing, [Event]>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract of the network service that reads a feed of events.
public struct EventFeed: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Returns all events of the feed.
    public let events = AsyncMethod<Nothing, [Event]>()
    /// Creates the contract with its methods.
    public init() {}
}
