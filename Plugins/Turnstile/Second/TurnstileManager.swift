import Backplane
import Synchronization
import TurnstileContracts

/// The turnstile of edition 2.
final class TurnstileManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { turnstile, caller, _ in turnstile.state.withLock { $0.pass(caller, edition: 2) } }
    }
}
