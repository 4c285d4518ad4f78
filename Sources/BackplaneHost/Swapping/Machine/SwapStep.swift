/// The steps of a swap, in their order.
public enum SwapStep: String, Sendable, Hashable, CaseIterable {
    /// Libraries are loaded and checked, the new instances made.
    case prepare
    /// Calls that come wait; those under way end.
    case quiesce
    /// The old instances give up what is exclusive, and are still.
    case suspend
    /// They hand their state over.
    case export
    /// The new instances take it.
    case `import`
    /// Wires lead to the new instances.
    case flip
    /// The new instances take what is exclusive; then the calls that wait go on.
    case activate
    /// The old instances are kept, in case the new ones fail.
    case probation
    /// The old instances are given up.
    case commit
}
