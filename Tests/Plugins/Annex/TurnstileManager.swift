import Backplane
import Synchronization
import TurnstileContracts

/// A turnstile that answers as the edition that is currently active.
final class TurnstileManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { turnstile, caller, _ in turnstile.state.withLock { $0.pass(caller) } }
    }
}

/// A turnstile under another class name, for swaps that rename.
final class BarrierManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    static let stateSchema = StateSchema(name: "TurnstileManager")
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { barrier, caller, _ in barrier.state.withLock { $0.pass(caller) } }
    }
}

/// A turnstile whose state is of another kind.
final class WicketManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    private let state = Mutex(TurnstileState())

    init(_ context: Context) {}

    func exportState() -> TurnstileState { state.withLock(\.self) }
    func importState(_ state: TurnstileState) { self.state.withLock { $0 = state.handedOver } }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { wicket, caller, _ in wicket.state.withLock { $0.pass(caller) } }
    }
}

extension TurnstileState {
    /// Counts a call as the edition that is active after a number of handovers.
    fileprivate mutating func pass(_ caller: Int) -> Ticket {
        var ticket = pass(caller, edition: 1)
        ticket.edition = 1 + ticket.handovers % 2
        return ticket
    }
}
