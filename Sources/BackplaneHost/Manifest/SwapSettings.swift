/// The settings of a host's swaps in a manifest.
public struct SwapSettings: Sendable, Hashable {
    /// The policy for long calls, used for swaps whose options specify none.
    public var drain: DrainPolicy

    /// Creates settings with a policy for long calls.
    public init(drain: DrainPolicy = .standard) { self.drain = drain }
}
