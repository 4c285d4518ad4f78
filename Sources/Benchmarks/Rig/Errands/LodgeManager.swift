import Backplane
import Synchronization
import TurnstileContracts

/// A turnstile that makes callers with negative numbers wait for that many milliseconds before it counts them.
final class LodgeManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    private func pass(_ caller: Int) -> Ticket {
        var ticket = state.withLock { $0.pass(caller, edition: 1) }
        ticket.edition = 1 + ticket.handovers % 2
        return ticket
    }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { lodge, caller, _ in
            if caller < 0 { try await Task.sleep(for: .milliseconds(-caller)) }
            return lodge.pass(caller)
        }
    }
}
