public import Backplane

/// The order in which nodes that could run are started, if there is not room for all of them.
///
/// What a node needs inherits its priority until it has ended.
public enum NodePriority: UInt8, Sendable, Comparable, CaseIterable {
    /// After everything else.
    case background
    /// After what is normal.
    case low
    /// The priority of nodes that are given no other.
    case normal
    /// Before what is normal.
    case high
    /// Before everything else.
    case urgent

    /// Compares two priorities; the one that is started later is the lesser.
    public static func < (left: NodePriority, right: NodePriority) -> Bool { left.rawValue < right.rawValue }
}

/// The priority, the time limit and the attempts of one node.
public struct NodeOptions: Sendable {
    /// The priority, which nodes that this one needs inherit; `nil` means the normal one, which they do not inherit.
    public var priority: NodePriority?
    /// The time that one attempt may take; `nil` means no limit.
    ///
    /// An attempt that has not returned by then fails with `operation.timeout`. It is cancelled, and not waited for. A
    /// limit that passes while the node is paused begins anew when the node is resumed.
    public var timeout: Duration?
    /// The rules for further attempts.
    public var retry: NodeRetry

    /// Creates options, by default without a time limit and with one attempt.
    public init(priority: NodePriority? = nil, timeout: Duration? = nil, retry: NodeRetry = .none) {
        (self.priority, self.timeout, self.retry) = (priority, timeout, retry)
    }
}

/// The rules by which a node that failed is run again, after delays that double and are random up to their bound.
///
/// Endpoints have rules of their own (`RetryPolicy`), which know what HTTP permits to repeat.
public struct NodeRetry: Sendable {
    /// The greatest number of attempts, with the first one; at most 65,535.
    public var attempts: Int
    /// The bound of the delay before the second attempt; it doubles with each further one.
    public var base: Duration
    /// The greatest bound of a delay.
    public var limit: Duration
    /// A test of whether another attempt may help after an error; `nil` means that it always may.
    public var mayHelp: (@Sendable (BackplaneError) -> Bool)?

    /// Creates rules for a number of attempts.
    public init(
        attempts: Int, base: Duration = .milliseconds(200), limit: Duration = .seconds(10),
        mayHelp: (@Sendable (BackplaneError) -> Bool)? = nil
    ) {
        (self.attempts, self.base, self.limit, self.mayHelp) = (attempts, base, limit, mayHelp)
    }

    /// A single attempt.
    public static var none: NodeRetry { NodeRetry(attempts: 1) }

    func allows(after attempt: Int, _ error: BackplaneError) -> Bool {
        attempt < min(attempts, Int(UInt16.max)) && mayHelp?(error) ?? true
    }

    /// Returns the delay after an attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt, from 1.
    ///   - random: A number from 0 up to 1.
    func delay(after attempt: Int, random: Double) -> Duration {
        var bound = min(base, limit)
        for _ in 1..<max(1, min(attempt, 64)) where bound < limit { bound = min(bound * 2, limit) }
        return max(.zero, bound * random)
    }
}
