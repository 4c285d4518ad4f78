public import Backplane
import BackplaneNetwork

/// The plugin of the executor for the Realtime Database and Cloud Storage of Firebase.
public struct FirebasePlugin: Plugin {
    /// The identifier that distinguishes this plugin from all others.
    public static let id = "org.backplane.firebase"
    /// The plugin's version, which its components inherit.
    public static let version: Version = "1.0.0"

    /// Adds the plugin's component classes to the registrar.
    public static func register(in registrar: inout Registrar) {
        registrar.add(FirebaseExecutor.self)
        registrar.add(FirebaseCommunication.self)
    }
}

/// The executor for `firebase:` and `firebase-storage:` URLs, which its communication controller loads.
final class FirebaseExecutor: Manager {
    typealias Provides = HTTPExecuting
    struct Wires: Wiring {
        let communicationController: Wire<HTTPExecuting>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { executor, _, call in
            try await executor.wires.communicationController.capabilities(call)
        }
        table.stream(\.exchange) { executor, order, parts, call in
            try await parts.send(contentsOf: executor.wires.communicationController.exchange(order, call))
        }
    }
}
