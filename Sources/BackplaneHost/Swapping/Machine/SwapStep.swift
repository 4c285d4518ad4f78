/// The steps of a swap, in order.
public enum SwapStep: String, Codable, Sendable, Hashable, CaseIterable {
    /// Libraries are loaded and checked, and the new instances created.
    case prepare
    /// New calls wait, and calls in flight end.
    case quiesce
    /// The old instances release exclusive resources and become quiescent.
    case suspend
    /// The old instances export their state.
    case export
    /// The new instances import the state.
    case `import`
    /// Instances that stay are reconfigured, and wires are connected to the new instances.
    case flip
    /// The new instances acquire exclusive resources; then the waiting calls continue.
    case activate
    /// The new instances are observed, and the old ones are kept in case they fail.
    case probation
    /// The old instances are retired.
    case commit
}
