import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import BackplaneTools
import Synchronization

/// The store of a data access controller in a host, which the suite uses through the boundary as the controller would.
final class BorrowedStore: Sendable {
    let store: Store
    private let host: PluginHost

    /// Starts a host on an engine.
    ///
    /// - Parameter folder: The host's folder for data.
    init(_ engine: any RecordStore, in folder: String) async throws {
        let manifest = Manifest(managers: [
            "Bench": ManagerDefinition(
                className: "BenchManager",
                dataAccessController: ComponentDefinition(
                    className: "BenchStore", namespace: BenchBook.namespace))
        ])
        var options = HostOptions(
            loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error),
            openStore: { _, _, _ in engine })
        options.occupationLimit = nil
        host = PluginHost(manifest: manifest, plugins: [BenchStorePlugin.self], options: options)
        try await host.start()
        guard let store = BenchStore.last.withLock({ $0.take() }) else {
            throw BackplaneError(.componentFailed, "the data access controller has not started")
        }
        self.store = store
    }

    func stop() async { await host.stop() }
}

private struct BenchStorePlugin: Plugin {
    static let id = "org.backplane.bench.store"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(BenchManager.self)
        registrar.add(BenchStore.self)
    }
}

private struct Benched: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

private final class BenchManager: Manager {
    typealias Provides = Benched
    struct Wires: Wiring {
        let dataAccessController: Wire<Benched>
    }
    init(_ context: Context) {}
    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}

private final class BenchStore: DataAccessController {
    typealias Provides = Benched
    /// The store of the controller that started last; hosts of this suite start one after another.
    static let last = Mutex<Store?>(nil)

    init(_ context: Context) { Self.last.withLock { $0 = context.store } }
    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}
