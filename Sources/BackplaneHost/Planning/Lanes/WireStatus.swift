public import Backplane

/// A wire of a running host, and the lane of its calls.
public struct WireStatus: Sendable, Hashable {
    /// The lane of a wire's calls, with the reason if it is not the native one.
    public enum Lane: Sendable, Hashable {
        /// Swift values, passed directly to the provider's function.
        case native
        /// JSON; the reason is a sentence without its full stop.
        case encoded(because: String)
        /// JSON, passed through the host's `backplane.calls` by a plugin without the Swift SDK or with another revision
        /// of it.
        case served(because: String)
    }
    /// The name of the calling component; `nil` for the host program.
    public var user: String?
    /// The label by which the user calls the provider.
    public var label: String
    /// The name of the called component.
    public var provider: String
    /// The name of the contract.
    public var contract: String
    /// The version of the contract with which the user was compiled.
    public var version: Version
    /// The lane of the wire's calls.
    public var lane: Lane
}
