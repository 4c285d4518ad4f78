import Backplane
public import CBackplane
import TurnstileContracts

/// A plugin with a graph of operations that is swapped while it runs.
struct RoundsPlugin: Plugin {
    static let id = "org.backplane.benchmark-rounds"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(RoundManager.self)
        registrar.add(RoundCommunication.self)
    }
}

/// A manager that forwards calls to its communication controller.
final class RoundManager: Manager {
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

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    RoundsPlugin.enter(offer, answer)
}
