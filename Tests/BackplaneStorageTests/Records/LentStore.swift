import Backplane
import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// The store of a data access controller, for a test to use as the controller would.
final class LentStore: Sendable {
    let store: Store
    let log = TestLog()
    private let host: PluginHost
    private let files: TestFolder

    /// Starts a host on an engine, with one data access controller.
    init(_ engine: any RecordStore, namespace: String = "Books") async throws {
        let key = UUID().uuidString
        files = try TestFolder()
        let manifest = Manifest(managers: [
            "Lender": ManagerDefinition(
                className: "LendingManager",
                dataAccessController: ComponentDefinition(
                    className: "LendingStore", configuration: ["key": .string(key)], namespace: namespace))
        ])
        host = PluginHost(
            manifest: manifest, plugins: [LendingStorePlugin.self],
            options: HostOptions(dataFolder: files.path, log: log, openStore: { _, _, _ in engine }))
        try await host.start()
        store = try #require(LendingStore.stores.withLock { $0.removeValue(forKey: key) })
    }

    func stop() async { await host.stop() }
}

private struct LendingStorePlugin: Plugin {
    static let id = "org.backplane.tests.lending-store"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LendingManager.self)
        registrar.add(LendingStore.self)
    }
}

private struct Lent: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

private final class LendingManager: Manager {
    typealias Provides = Lent
    struct Wires: Wiring {
        let dataAccessController: Wire<Lent>
    }
    init(_ context: Context) {}
    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}

private final class LendingStore: DataAccessController {
    typealias Provides = Lent
    struct Configuration: Decodable, Sendable {
        var key: String
    }
    static let stores = Mutex<[String: Store]>([:])

    init(_ context: Context) { Self.stores.withLock { $0[context.configuration.key] = context.store } }
    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}

extension RecordStoreTests.Engine {
    /// Runs a test on the store of a data access controller.
    func lend(_ body: (Store, LentStore, any RecordStore) async throws -> Void) async throws {
        let files = try TestFolder(), folder = files.path
        let engine = try open(in: folder), lent = try await LentStore(engine)
        try await body(lent.store, lent, engine)
        await lent.stop()
    }
}

/// The error that a closure throws; an issue if it throws none.
func storeError(
    _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> some Sendable
) async -> BackplaneError? {
    await #expect(throws: BackplaneError.self, sourceLocation: sourceLocation) { _ = try await body() }
}

/// A value that several threads may read and set.
final class Recorder<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
