import Backplane

/// A wire of a component that leads to its provider.
struct OpenWire: Sendable {
    /// Its handle, for a plugin that calls through the host.
    var id: UInt64
    var label: String
    var slot: Slot
    /// What that handle means.
    var wire: ServedWire
}
