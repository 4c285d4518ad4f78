import Backplane
import Synchronization
import TurnstileContracts

/// A manager with a timer whose runs count as calls of caller 1.
final class TimekeeperManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) throws {
        try context.tasks.every(.seconds(10), name: "strike") { [self] _ in
            state.withLock { _ = $0.pass(1, edition: 1) }
        }
    }

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { timekeeper, caller, _ in
            timekeeper.state.withLock { $0.pass(caller, edition: 1) }
        }
    }
}
