package import CBackplane
import Synchronization

/// One component of a plugin, as its host calls it.
package final class ComponentInstance: @unchecked Sendable {       // pointers that are the plugin's own, handed back untouched
    private let component: bp_component
    private let instance: UnsafeMutableRawPointer
    /// What native wires to it call, alive as long as it is; `nil`: it has no native lane.
    package let nativeCells: Cells?
    /// The host's own, and one for every answer that the plugin owes.
    private let claims = Atomic<Int>(1)

    init(_ component: bp_component, _ instance: UnsafeMutableRawPointer, lane: bp_component_lane?) {
        (self.component, self.instance) = (component, instance)
        nativeCells = lane?.cells(instance).map(Cells.init)
    }

    package func activate(_ watch: Callbacks.Watch, _ launch: Callbacks.Launch) async throws(BackplaneError) {
        try await run(component.activate, watch, launch)
    }

    package func stop(_ watch: Callbacks.Watch, _ launch: Callbacks.Launch) async throws(BackplaneError) {
        try await run(component.stop ?? component.suspend, watch, launch)
    }

    private func run(_ step: bp_step?, _ watch: Callbacks.Watch, _ launch: Callbacks.Launch) async throws(BackplaneError) {
        guard let step else { return }
        claim()
        let ended = await Callbacks.wait(watch, launch, answered: { _, _ in self.release() }) { step(self.instance, Callbacks.done, $0) }
        _ = try ended.answer.get()
    }

    /// Keeps the instance, for a plugin that owes an answer and may still use it.
    package func claim() {
        claims.wrappingAdd(1, ordering: .relaxed)
    }

    /// Gives up a claim, and with the last one the instance. Nothing may be called after the host has given up its own.
    package func release() {
        if claims.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { component.release?(instance) }
    }

    /// Calls a method whose answer is expected under `id` (``Callbacks``).
    package func call(_ method: UInt32, _ input: bp_bytes, _ call: Call, id: UInt64) {
        call.withC { component.call?(instance, method, input, $0, id, Callbacks.done, Callbacks.context(id)) }
    }

    package func cancel(_ id: UInt64) {
        component.cancel?(instance, id)
    }
}
