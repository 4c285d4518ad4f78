package import Backplane
package import CBackplane

/// The plugin's side of a timer: its functions and their context, which is released with this object.
package final class TimerFunctions: Sendable {
    private let functions: ForeignTable<bp_timer>
    /// The use of the context, which ends once the context has been released.
    private let use: ContextCount.Use
    private var timer: bp_timer { functions.table }

    package init(_ timer: bp_timer, _ use: ContextCount.Use) { (functions, self.use) = (ForeignTable(timer), use) }

    deinit { timer.release?(timer.context) }

    /// Starts the body; its answer is expected under `run` (``Callbacks``).
    package func fire(_ call: Call, run: UInt64) {
        call.withC { timer.fire?(timer.context, $0, run, Callbacks.done, Callbacks.context(run)) }
    }

    package func cancel(_ run: UInt64) {
        timer.cancel?(timer.context, run)
    }
}
