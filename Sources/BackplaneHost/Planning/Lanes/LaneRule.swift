/// A rule for the lanes of calls, and of state in a swap.
public enum LaneRule: Sendable, Hashable {
    /// The native lane wherever it is provably safe, otherwise the encoded lane.
    case fastest
    /// The encoded lane for every call and every state, as between plugins of different compilers.
    ///
    /// It shows whether a contract survives encoding.
    case encoded
}
