public import Backplane

/// One wire of a host that is up, and how its calls cross.
public struct WireStatus: Sendable, Hashable {
    public enum Lane: Sendable, Hashable {
        /// Swift values, handed to the provider's own function.
        case native
        /// JSON; why not natively, as a sentence without its full stop.
        case encoded(because: String)
        /// JSON, through the host's `backplane.calls`, by a plugin that is not made with the Swift SDK, or with another revision of it.
        case served(because: String)
    }
    /// Who calls: a component by its name; `nil`: the host program.
    public var user: String?
    /// What the user calls it.
    public var label: String
    /// Who is called.
    public var provider: String
    public var contract: String
    /// Of the contract, as the user knows it.
    public var version: Version
    public var lane: Lane
}
