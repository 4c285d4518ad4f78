/// The settings of a host's swaps in a manifest.
public struct SwapSettings: Sendable, Hashable {
    /// The treatment of calls that take long, for swaps whose options have none.
    public var drain: DrainPolicy

    /// Creates settings with a policy for long calls.
    public init(drain: DrainPolicy = .standard) { self.drain = drain }
}
