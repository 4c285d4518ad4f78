package import Backplane
package import CBackplane
import Synchronization

/// One component of a plugin, as its host calls it.
package final class ComponentInstance: @unchecked Sendable {       // pointers that are the plugin's own, handed back untouched
    let functions: ComponentClass.Functions
    private let instance: UnsafeMutableRawPointer
    /// Runs its steps.
    private let launch: Callbacks.Launch
    /// What native wires to it call, alive as long as it is; `nil`: it has no native lane.
    package let nativeCells: Cells?
    /// The host's own, and one for every answer that the plugin owes.
    private let claims = Atomic<Int>(1)
    /// Steps that the plugin has not answered, however the host has ended them.
    private let steps = Atomic<Int>(0)

    init(_ functions: ComponentClass.Functions, _ instance: UnsafeMutableRawPointer, _ launch: @escaping Callbacks.Launch) {
        (self.functions, self.instance, self.launch) = (functions, instance, launch)
        nativeCells = functions.lane?.cells(instance).map(Cells.init)
    }

    /// Native calls that ended with an error, cancelled ones apart; encoded ones are seen by whoever calls ``call(_:_:_:id:)``. Not to be
    /// asked after the host has given up its claim.
    package var failures: UInt64 { functions.lane?.failures(instance) ?? 0 }

    /// Starts what answers through ``Callbacks``, and keeps the instance until the plugin has answered.
    ///
    /// - Parameter isStep: is it one of those that never overlap?
    func wait(
        _ watch: Callbacks.Watch, isStep: Bool = true,
        _ start: @escaping @Sendable (_ instance: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer?) -> Void
    ) async throws(BackplaneError) -> [UInt8] {
        claim()
        steps.wrappingAdd(isStep ? 1 : 0, ordering: .relaxed)
        let ended = await Callbacks.wait(watch, launch, answered: { _, _ in
            self.steps.wrappingSubtract(isStep ? 1 : 0, ordering: .relaxed)
            self.release()
        }) { start(self.instance, $0) }
        return try ended.answer.get()
    }

    /// Does the plugin still owe the answer of a step? A question for its health is none: it may come at any time.
    package var isInStep: Bool { steps.load(ordering: .relaxed) > 0 }

    /// Keeps the instance, for a plugin that owes an answer and may still use it.
    package func claim() {
        claims.wrappingAdd(1, ordering: .relaxed)
    }

    /// Gives up a claim, and with the last one the instance. Nothing may be called after the host has given up its own.
    package func release() {
        if claims.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { functions.component.release?(instance) }
    }

    /// Calls a method whose answer is expected under `id` (``Callbacks``).
    package func call(_ method: UInt32, _ input: bp_bytes, _ call: Call, id: UInt64) {
        call.withC { functions.component.call?(instance, method, input, $0, id, Callbacks.done, Callbacks.context(id)) }
    }

    package func cancel(_ id: UInt64) {
        functions.component.cancel?(instance, id)
    }
}
