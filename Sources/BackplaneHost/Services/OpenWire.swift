import Backplane

/// A wire of a component that is connected to its provider.
struct OpenWire: Sendable {
    /// The wire's handle, for plugins that call through the host.
    var id: UInt64
    var label: String
    var slot: Slot
    /// The wire that the handle represents.
    var wire: ServedWire
}
