/// A rule for the lanes that calls, and states in a swap, may take.
public enum LaneRule: Sendable, Hashable {
    /// The native lane wherever it is provably safe, otherwise the encoded one.
    case fastest
    /// The encoded lane for every call and every state, as between plugins of different compilers.
    ///
    /// It shows whether a contract survives encoding.
    case encoded
}
