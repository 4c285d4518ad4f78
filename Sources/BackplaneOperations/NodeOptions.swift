public import Backplane

/// The priority of a node, which decides the order in which ready nodes start.
public enum NodePriority: UInt8, Sendable, Comparable, CaseIterable {
    /// The lowest priority.
    case background
    /// Lower than normal.
    case low
    /// The default priority.
    case normal
    /// Higher than normal.
    case high
    /// The highest priority.
    case urgent

    /// Returns whether a priority is lower than another, so that its nodes are started later.
    public static func < (left: NodePriority, right: NodePriority) -> Bool { left.rawValue < right.rawValue }
}

/// The priority, the time limit and the retry policy of one node.
public struct NodeOptions: Sendable {
    /// The priority of the node among those that are ready to run in its queue.
    public var priority: NodePriority
    /// The time limit of one attempt; `nil` means no limit.
    ///
    /// An attempt that has not returned by then fails with `operation.timeout`. It is cancelled, but not awaited. A
    /// limit that expires while the node is paused starts over when the node is resumed.
    public var timeout: Duration?
    /// The retry policy.
    public var retry: NodeRetry

    /// Creates options, by default without a time limit and with one attempt.
    public init(
        priority: NodePriority = .normal, timeout: Duration? = nil, retry: NodeRetry = NodeRetry(attempts: 1)
    ) {
        (self.priority, self.timeout, self.retry) = (priority, timeout, retry)
    }
}

/// The policy for retrying a failed node, with exponential backoff and full jitter.
///
/// Endpoints have a policy of their own (`RetryPolicy`), which considers whether HTTP allows a request to be repeated.
public struct NodeRetry: Sendable {
    /// The maximum number of attempts, including the first; at most 65,535.
    public var attempts: Int
    /// The upper bound of the delay before the second attempt; it doubles with each further attempt.
    public var base: Duration
    /// The upper bound of all delays, regardless of the number of failed attempts.
    public var limit: Duration
    /// A function that returns whether to retry after an error; `nil` means always.
    public var mayHelp: (@Sendable (BackplaneError) -> Bool)?

    /// Creates a policy for a number of attempts.
    public init(
        attempts: Int, base: Duration = .milliseconds(200), limit: Duration = .seconds(10),
        mayHelp: (@Sendable (BackplaneError) -> Bool)? = nil
    ) {
        (self.attempts, self.base, self.limit, self.mayHelp) = (attempts, base, limit, mayHelp)
    }

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

/// The status of a node that has returned or failed.
public struct NodeStatus: Sendable {
    /// The number of the attempt, from 1; 0 for a node that was not run.
    public let attempt: Int
    /// The status code of the attempt's last response, such as 200; `nil` without a response.
    public var code: Int?

    init(attempt: Int) { self.attempt = attempt }
}
