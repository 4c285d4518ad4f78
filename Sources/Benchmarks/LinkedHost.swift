import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import BackplaneTools
import Synchronization

/// A host with components that are linked into this program.
///
/// The program uses the contexts of the components, and so accesses HTTP and the store through the boundary.
final class LinkedHost: Sendable {
    let network: LinkedNetwork.Context
    let store: Store
    private let host: PluginHost

    /// Starts the host; hosts start one after another.
    init(
        executors: [any HTTPExecutor] = [], engine: any RecordStore = MemoryRecordStore(), in folder: String
    ) async throws {
        let manifest = Manifest(managers: [
            "Linked": ManagerDefinition(
                className: "LinkedManager",
                dataAccessController: ComponentDefinition(className: "LinkedStore", namespace: BenchBook.namespace),
                communicationController: ComponentDefinition(className: "LinkedNetwork"))
        ])
        let options = HostOptions(
            loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error),
            executors: executors, openStore: { _, _, _ in engine }, occupationLimit: nil)
        host = PluginHost(manifest: manifest, plugins: [LinkedPlugin.self], options: options)
        try await host.start()
        guard let network = LinkedNetwork.last.withLock({ $0.take() }),
            let store = LinkedStore.last.withLock({ $0.take() })
        else { throw BackplaneError(.componentFailed, "the linked components have not started") }
        (self.network, self.store) = (network, store)
    }

    func stop() async { await host.stop() }
}

private struct LinkedPlugin: Plugin {
    static let id = "org.backplane.benchmark-linked"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LinkedManager.self)
        registrar.add(LinkedNetwork.self)
        registrar.add(LinkedStore.self)
    }
}

/// The contract of the controllers, which are never called.
struct Linked: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

private final class LinkedManager: Manager {
    struct Wires: Wiring {
        let dataAccessController: Wire<Linked>
        let communicationController: Wire<Linked>
    }

    init(_ context: Context) {}
}

final class LinkedNetwork: CommunicationController {
    typealias Provides = Linked
    /// The context of the controller that started last.
    fileprivate static let last = Mutex<Context?>(nil)

    init(_ context: Context) { Self.last.withLock { $0 = context } }

    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}

private final class LinkedStore: DataAccessController {
    typealias Provides = Linked
    /// The store of the controller that started last.
    static let last = Mutex<Store?>(nil)

    init(_ context: Context) { Self.last.withLock { $0 = context.store } }

    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}
