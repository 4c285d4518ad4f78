public import Backplane

/// What swaps are measured with: counts who passes, so that not one call can be lost, made twice or answered by the wrong code
/// without being found.
public struct Turnstile: Contract {
    public static let version: Version = "1.0.0"
    /// Lets the caller of a number pass once more.
    public let pass = AsyncMethod<Int, Ticket>()
    public init() {}
}

/// What a caller gets.
public struct Ticket: Codable, Sendable, Hashable {
    /// The constant of the library whose code answered: 1 or 2.
    public var edition: Int
    /// How often the state had been handed over by then.
    public var handovers: Int
    /// How many have passed, all callers together.
    public var count: Int
    /// How often this caller has.
    public var own: Int

    public init(edition: Int, handovers: Int, count: Int, own: Int) {
        (self.edition, self.handovers, self.count, self.own) = (edition, handovers, count, own)
    }
}

/// What one edition of a turnstile hands over to the next.
public struct TurnstileState: Codable, Sendable {
    private var handovers = 0
    private var count = 0
    private var own: [Int: Int] = [:]

    public init() {}

    public mutating func pass(_ caller: Int, edition: Int) -> Ticket {
        count += 1
        own[caller, default: 0] += 1
        return Ticket(edition: edition, handovers: handovers, count: count, own: own[caller, default: 0])
    }

    /// The same in other hands.
    public var handedOver: TurnstileState {
        var state = self
        state.handovers += 1
        return state
    }
}
