/// The stages of a node, from waiting to one of its three ends.
public enum NodeState: String, Sendable, CaseIterable {
    /// The node waits for its inputs, for other nodes of the queue, or for its next attempt.
    case waiting
    /// The node's code runs.
    case running
    /// The node is being paused: its code still runs, and its result will be held back.
    case pausing
    /// The node is held: it has not started, is suspended, or its result is held back.
    case paused
    /// The node has returned a value.
    case succeeded
    /// The node has thrown an error, exceeded its time limit, or was not run because of another node.
    case failed
    /// The node was cancelled.
    case cancelled

    /// A Boolean value that indicates whether the state is final.
    public var hasEnded: Bool { self == .succeeded || self == .failed || self == .cancelled }
}
