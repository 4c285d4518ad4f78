import Backplane

/// The slots of everybody who calls one component.
struct Connections {
    private var slots: [Slot] = []
    private var bindings: [Binding] = []

    /// Opens a slot to the component.
    ///
    /// - Parameter cells: `nil` for a slot that is called through the host.
    mutating func open(_ slot: Slot, with cells: Cells?) {
        let binding = cells.map(Binding.init) ?? .withoutCells()
        slot.open(with: binding)
        slots.append(slot)
        bindings.append(binding)
    }

    /// Refuses new calls; those under way go on.
    func close() {
        for slot in slots { slot.close() }
    }

    /// Calls under way.
    var callsInFlight: Int {
        bindings.reduce(0) { $0 + Int(clamping: $1.callsInFlight) }
    }
}
