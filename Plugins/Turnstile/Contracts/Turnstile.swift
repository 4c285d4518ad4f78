public import Backplane

/// The contract of a counter that measures swaps.
///
/// Every call is counted. Calls that are lost, made twice or answered by the wrong code are therefore detected.
public struct Turnstile: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Counts a call of the caller with the given number and returns the counts.
    public let pass = AsyncMethod<Int, Ticket>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The counts that a caller receives.
public struct Ticket: Codable, Sendable, Hashable {
    /// The number of the library that returned the answer: 1 or 2.
    public var edition: Int
    /// The number of times the state has been handed over.
    public var handovers: Int
    /// The number of calls of all callers.
    public var count: Int
    /// The number of calls of this caller.
    public var own: Int

    /// Creates a ticket.
    ///
    /// - Parameters:
    ///   - edition: The number of the library that answered: 1 or 2.
    ///   - handovers: The number of times the state has been handed over.
    ///   - count: The number of calls of all callers.
    ///   - own: The number of calls of this caller.
    public init(edition: Int, handovers: Int, count: Int, own: Int) {
        (self.edition, self.handovers, self.count, self.own) = (edition, handovers, count, own)
    }
}

/// The state that one edition of a turnstile hands over to the next.
public struct TurnstileState: Codable, Sendable {
    private var handovers = 0
    private var count = 0
    private var own: [Int: Int] = [:]

    /// Creates a state without any calls or handovers.
    public init() {}

    /// Counts a call and returns the counts that include it.
    ///
    /// - Parameters:
    ///   - caller: The number of the caller.
    ///   - edition: The number of the library that answers: 1 or 2.
    public mutating func pass(_ caller: Int, edition: Int) -> Ticket {
        count += 1
        own[caller, default: 0] += 1
        return Ticket(edition: edition, handovers: handovers, count: count, own: own[caller, default: 0])
    }

    /// A copy of the state with one more handover.
    public var handedOver: TurnstileState {
        var state = self
        state.handovers += 1
        return state
    }
}
