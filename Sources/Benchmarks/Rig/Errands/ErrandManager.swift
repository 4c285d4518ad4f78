import Backplane
import TurnstileContracts

/// A manager that forwards calls to its communication controller.
final class ErrandManager: Manager {
    typealias Provides = Turnstile
    struct Wires: Wiring {
        let communicationController: Wire<Turnstile>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { manager, number, call in
            try await manager.wires.communicationController.pass(number, call)
        }
    }
}
