public import Backplane

/// The effects that a swap would have, computed without affecting any running component.
public struct SwapPreview: Sendable, Hashable {
    /// The plugins whose generation would change.
    public var plugins: [PluginChange] = []
    /// The components whose instances would be replaced.
    public var components: [ComponentChange] = []
    /// The wires that would be connected to a new instance.
    public var wires: [WireChange] = []
    /// The reasons for refusing the swap; empty if it would proceed.
    public var refusals: [BackplaneError] = []
    /// The warnings about the new code that the manifest did not already cause with the old code.
    public var warnings: [String] = []

    /// Creates a preview of a swap that would change nothing.
    public init() {}
}
