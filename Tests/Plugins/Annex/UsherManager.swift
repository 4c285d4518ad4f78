import Backplane
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
