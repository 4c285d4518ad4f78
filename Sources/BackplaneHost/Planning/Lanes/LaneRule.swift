/// Which lane calls may take.
public enum LaneRule: Sendable, Hashable {
    /// The native one wherever that is provably safe.
    case fastest
    /// JSON for every call, as between plugins of different compilers: to see that a contract survives it.
    case encoded
}
