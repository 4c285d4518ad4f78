public import Backplane

/// What a swap would do, found out without touching anything that runs.
public struct SwapPreview: Sendable, Hashable {
    public var plugins: [PluginChange] = []
    public var components: [ComponentChange] = []
    public var wires: [WireChange] = []
    /// Why it would be refused; empty: it would not.
    public var refusals: [BackplaneError] = []
    public var warnings: [String] = []

    public init() {}
}
