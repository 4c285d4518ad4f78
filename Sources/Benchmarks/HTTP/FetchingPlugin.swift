import Backplane
import BackplaneNetwork
import Synchronization

/// The plugin of the HTTP rows: its component exposes its context, through which the rows make exchanges.
struct FetchingPlugin: Plugin {
    static let id = "org.backplane.bench.fetching"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(FetchingManager.self)
        registrar.add(FetchingCommunication.self)
        registrar.add(CountingObserver.self)
    }
}

/// The contract of the component, which is never called.
struct Fetching: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

final class FetchingManager: Manager {
    static let className = "FetchingManager"
    struct Wires: Wiring {
        let communicationController: Wire<Fetching>
    }

    init(_ context: Context) {}
}

final class FetchingCommunication: CommunicationController {
    typealias Provides = Fetching
    static let className = "FetchingCommunication"
    static let context = Mutex<Context?>(nil)

    init(_ context: Context) { Self.context.withLock { $0 = context } }

    static func methods(_ table: inout Methods) {
        table.sync(\.nothing) { _, _, _ in Nothing() }
    }
}

/// An observer of exchanges that counts them.
final class CountingObserver: Manager {
    typealias Provides = Intercepting
    static let className = "CountingObserver"
    private let ended = Atomic(0)

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.interests) { _, _, _ in .events }
        table.async(\.request) { _, head, _ in head }
        table.async(\.attempt) { _, _, _ in [] }
        table.async(\.events) { observer, batch, _ in
            observer.ended.add(batch.events.count { $0.stage == .end }, ordering: .relaxed)
            return Nothing()
        }
    }
}
