import Backplane
import Synchronization
import TurnstileContracts

/// A manager without state that passes a turnstile on behalf of its callers, if the manifest connects one.
final class UsherManager: Manager {
    typealias Provides = Turnstile
    struct Wires: Wiring {
        let turnstile: Wire<Turnstile>?
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { usher, caller, call in
            // Without a turnstile, callers are not counted.
            guard let turnstile = usher.wires.turnstile else {
                return Ticket(edition: 0, handovers: 0, count: 0, own: 0)
            }
            return try await turnstile.pass(caller, call)
        }
    }
}

/// A turnstile that stores the configured number of records and hands them over.
final class DepotManager: Manager, StatefulComponent {
    typealias Provides = Turnstile
    struct Configuration: Decodable, Sendable { var records: Int }
    /// A record of a typical application: a number, a text that is stored elsewhere, and an amount.
    struct Record: Codable, Sendable {
        var id: Int
        var title: String
        var amount: Double
    }
    struct State: Codable, Sendable {
        var turnstile = TurnstileState()
        var records: [Record] = []
    }
    private let count: Int
    private let state = Mutex(State())

    init(_ context: Context) { count = context.configuration.records }

    /// Creates the records, unless another instance has handed them over.
    func activate() {
        state.withLock { state in
            guard state.records.count != count else { return }
            state.records = (0..<count).map { Record(id: $0, title: "The record of number \($0)", amount: 0.5) }
        }
    }

    func exportState() -> State { state.withLock(\.self) }
    func importState(_ state: State) {
        self.state.withLock { $0 = State(turnstile: state.turnstile.handedOver, records: state.records) }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { depot, caller, _ in depot.state.withLock { $0.turnstile.pass(caller, edition: 1) } }
    }
}
