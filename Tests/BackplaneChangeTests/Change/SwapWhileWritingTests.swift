import Backplane
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Host services stay open across a swap: what was begun with them ends, and nothing that was acknowledged is lost.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SwapWhileWritingTests {
    private static func edition(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.diary", version: version) { registrar in
            registrar.add(DiaryManager.self)
            registrar.add(DiaryStore.self)
        }
    }

    private func withDiary(_ store: HeldStore, _ body: (PluginHost, Remote<Diaries>) async throws -> Void) async throws
    {
        let folder = try TestFolder()
        let manager = ManagerDefinition(
            className: "DiaryManager", dataAccessController: ComponentDefinition(className: "DiaryStore"))
        var options = HostOptions(dataFolder: folder.path, openStore: { _, _, _ in store })
        options.swapFault = { action in if case .suspend = action { store.latch.open() } }
        options.servicesLimit = .seconds(60)
        let host = PluginHost(
            manifest: ManifestDocument(Manifest(plugins: [], managers: ["Diary": manager])),
            linked: [Self.edition("1.0.0")], options: options)
        HeldStore.current.withLock { $0 = store }
        try await body(host, try await host.manager("Diary"))
        await host.stop()
    }

    @Test func `a write without a waiting caller ends before the suspend`() async throws {
        let store = HeldStore()
        try await withDiary(store) { host, diary in
            _ = try await diary.write("in the background")
            try await store.latch.arrivals()
            let report = try await host.coordinator.swap(
                linked: [Self.edition("2.0.0")], .patient)
            #expect(report.warnings == [])
            #expect(store.wasOpenAtSuspend.withLock { $0 } == [true])
            #expect(try await diary.read() == ["background"])
        }
    }
}

/// Holds writes up at a latch.
private final class HeldStore: RecordStore {
    let latch = TestGate()
    private let memory = MemoryRecordStore()
    private let opened = Atomic(false)
    /// Where the component finds it: one test at a time.
    static let current = Mutex<HeldStore?>(nil)
    let wasOpenAtSuspend = Mutex<[Bool]>([])
    var isOpen: Bool { opened.load(ordering: .relaxed) }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        await latch.passThoughCancelled()
        opened.store(true, ordering: .relaxed)
        return try await memory.write(batch, in: namespace)
    }

    func read(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> RecordPage {
        try await memory.read(query, in: namespace)
    }

    func define(_ collection: CollectionDefinition, in namespace: String) async throws(BackplaneError) {
        try await memory.define(collection, in: namespace)
    }

    func count(_ query: RecordQuery, in namespace: String) async throws(BackplaneError) -> Int {
        try await memory.count(query, in: namespace)
    }

    func changes(of collection: String, since number: Int64, limit: Int, in namespace: String)
        async throws(BackplaneError) -> ChangePage
    {
        try await memory.changes(of: collection, since: number, limit: limit, in: namespace)
    }

    func namespaces() async throws(BackplaneError) -> [String] { try await memory.namespaces() }

    func collections(in namespace: String) async throws(BackplaneError) -> [CollectionSummary] {
        try await memory.collections(in: namespace)
    }
}

private struct Diaries: Contract {
    static let version: Version = "1.0.0"
    /// Answers with how often something was written.
    let write = AsyncMethod<String, Int>()
    let read = AsyncMethod<Nothing, [String]>()
}

private final class DiaryManager: Manager {
    typealias Provides = Diaries
    static let className = "DiaryManager"
    struct Wires: Wiring {
        let dataAccessController: Wire<Diaries>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.write) { manager, text, call in try await manager.wires.dataAccessController.write(text, call) }
        table.async(\.read) { manager, _, call in try await manager.wires.dataAccessController.read(call) }
    }
}

private final class DiaryStore: DataAccessController, StatefulComponent {
    typealias Provides = Diaries
    struct State: Codable {
        var count: Int
    }
    struct Page: Record {
        var id: String
    }
    static let className = "DiaryStore"
    static let stateSchema = StateSchema(name: "diary")
    private let context: Context
    private let count = Mutex(0)

    init(_ context: Context) { self.context = context }

    func suspend() {
        guard let store = HeldStore.current.withLock({ $0 }) else { return }
        store.wasOpenAtSuspend.withLock { $0.append(store.isOpen) }
    }
    func exportState() -> State { State(count: count.withLock { $0 }) }
    func importState(_ state: State) { count.withLock { $0 = state.count } }

    static func methods(_ table: inout Methods) {
        table.async(\.write) { store, text, _ in
            if text.contains("background") {
                store.context.tasks.run { [context = store.context] in
                    _ = try? await context.store.collection(Page.self).save(Page(id: "background"))
                }
            } else {
                try await store.context.store.collection(Page.self).save(Page(id: text))
            }
            return store.count.withLock {
                $0 += 1
                return $0
            }
        }
        table.async(\.read) { store, _, _ in try await store.context.store.collection(Page.self).all().map(\.id) }
    }
}
