import CBackplane

/// One component of a plugin, as its host calls it.
package final class ComponentInstance: @unchecked Sendable {       // pointers that are the plugin's own, handed back untouched
    private let component: bp_component
    private let instance: UnsafeMutableRawPointer

    init(_ component: bp_component, _ instance: UnsafeMutableRawPointer) {
        (self.component, self.instance) = (component, instance)
    }

    package func activate(_ watch: Callbacks.Watch) async throws(BackplaneError) { try await run(component.activate, watch) }
    package func stop(_ watch: Callbacks.Watch) async throws(BackplaneError) { try await run(component.stop ?? component.suspend, watch) }

    private func run(_ step: bp_step?, _ watch: Callbacks.Watch) async throws(BackplaneError) {
        guard let step else { return }
        let ended = await Callbacks.wait(watch) { step(instance, Callbacks.done, $0) }
        _ = try ended.answer.get()
    }

    /// Gives the instance up. Nothing may be called after, and nothing may be under way.
    package func release() {
        component.release?(instance)
    }

    /// Calls a method whose answer is expected under `id` (``Callbacks``).
    package func call(_ method: UInt32, _ input: [UInt8], _ call: Call, id: UInt64) {
        call.withC { frame in
            input.withBytes { component.call?(instance, method, $0, frame, id, Callbacks.done, Callbacks.context(id)) }
        }
    }

    package func cancel(_ id: UInt64) {
        component.cancel?(instance, id)
    }
}
