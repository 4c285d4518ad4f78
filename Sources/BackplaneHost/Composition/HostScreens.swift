import Synchronization

/// The screens of the active plan, which windows look up without waiting for the host's domain.
///
/// They change at the flip of a change, before its new code can be called, and change back if it is undone.
package final class HostScreens: Sendable {
    package struct Table: Sendable {
        /// The number of the table, which is another one for every plan; 0 before the manifest is loaded.
        package var revision: UInt64 = 0
        /// The managers without errors that have screens, by the identifiers of the screens.
        package var managers: [String: String] = [:]
        /// The settings of the active manifest.
        package var settings: ScreenSettings?
    }
    private let state = Mutex(Table())
    private let numbers = Atomic(0)

    package var table: Table { state.withLock { $0 } }

    /// Returns a number for a screen to open, which no other screen of the host has had.
    package func newNumber() -> Int { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Makes the screens of a plan those of the host.
    func publish(_ plan: Plan, _ settings: ScreenSettings?) {
        state.withLock { state in
            state = Table(revision: state.revision + 1, managers: plan.screens, settings: settings)
        }
    }
}
