public import Backplane

/// Streams of every kind.
public struct Sequences: Contract {
    public static let version: Version = "1.0.0"
    /// The numbers from 0 up to this one.
    public let count = StreamMethod<Int, Int>()
    /// So many volumes.
    public let volumes = StreamMethod<Int, Volume>()
    /// Two numbers, and then an error.
    public let fail = StreamMethod<FailureKind, Int>()
    /// The numbers from 0, without end.
    public let endless = StreamMethod<Nothing, Int>()
    /// Nothing, until it is cancelled.
    public let silent = StreamMethod<Nothing, Int>()
    /// One number; then it ignores its cancellation until it is let go.
    public let stubborn = StreamMethod<Nothing, Int>()
    /// A number that JSON has, one that it does not have, and another one.
    public let unusual = StreamMethod<Nothing, Double>()
    /// The path of the call that the body received, and whether that has a deadline.
    public let frame = StreamMethod<Nothing, SequenceFrame>()
    public init() {}
}

public struct SequenceFrame: Codable, Sendable, Equatable {
    public var components: Int
    public var hasDeadline: Bool

    public init(components: Int, hasDeadline: Bool) { (self.components, self.hasDeadline) = (components, hasDeadline) }
}

/// The bodies of all streams of one copy of the provider's library.
public struct SequenceWatch: Contract {
    public static let version: Version = "1.0.0"
    public let counts = SyncMethod<Nothing, SequenceCounts>()
    /// Lets go the bodies that ignore their cancellation.
    public let letGo = SyncMethod<Nothing, Nothing>()
    public init() {}
}

public struct SequenceCounts: Codable, Sendable, Equatable {
    /// The bodies that have begun, are running and were cancelled.
    public var begun = 0, running = 0, cancelled = 0
    /// The elements whose `send` has returned.
    public var sent = 0
    /// The instances that were released.
    public var released = 0
    public init() {}
}
