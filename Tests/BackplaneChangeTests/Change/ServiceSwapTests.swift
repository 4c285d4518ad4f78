import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Exchanges that are under way while their component is swapped.
@Suite(.timeLimit(.minutes(5)))
struct SwapWhileExchangingTests {
    private static func edition(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.feeds", version: version) {
            $0.add(FeedManager.self)
            $0.add(FeedCommunication.self)
            $0.add(ExclusiveExecutor.self)
        }
    }

    /// A host with the one that sends, and an executor that is swapped with it.
    private func host(
        _ executor: HeldExecutor, _ events: CounterEvents, lanes: LaneRule = .fastest,
        _ change: (inout HostOptions) -> Void = { _ in }
    ) throws -> CounterHost {
        let feed: ManifestValue = [
            "className": "FeedManager",
            "communicationController": [
                "className": "FeedCommunication", "configuration": ["key": .string(events.key)],
            ],
        ]
        return try CounterHost(
            [], lanes: lanes, others: ["Feed": feed, "ExclusiveExecutor": ["className": "ExclusiveExecutor"]],
            linked: [Self.edition("1.0.0")], sections: ["network": ["executors": ["gated": "ExclusiveExecutor"]]]
        ) {
            $0.executors = [executor]
            change(&$0)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `one through an executor that is swapped with its component is let in, as calls are`(lanes: LaneRule)
        async throws
    {
        let latch = TestGate(), events = CounterEvents(CounterScript(opened: { await latch.passThoughCancelled() }))
        let counters = try host(HeldExecutor(), events, lanes: lanes) {
            $0.servicesLimit = .seconds(60)
            // The gates are held, and the call is awaited.
            $0.swapFault = { action in if case .drain = action { latch.open() } }
        }
        try await counters.host.start()
        let feed: Remote<Feeds> = try await counters.host.manager("Feed")
        let call = Task { try await feed.fetch("gated:news") }
        try await latch.arrivals()
        let report = try await counters.swap(linked: [Self.edition("2.0.0")])
        #expect(report.outcome == .changed && report.warnings == [])
        #expect(try await call.value == "204")
        await counters.host.stop()
    }

    @Test func `one that its component does not end is ended once it is suspended, and the report says so`()
        async throws
    {
        let executor = HeldExecutor(), events = CounterEvents(), counters = try host(executor, events),
            feed: Remote<Feeds> = try await counters.host.manager("Feed")
        _ = try await feed.listen()
        try await executor.latch.arrivals()
        // What a component uses of the host has this time before it is suspended, and again afterwards.
        let report = try await counters.test.expiring(.seconds(1), .seconds(1)) {
            try await counters.swap(linked: [Self.edition("2.0.0")])
        }
        #expect(report.outcome == .changed)
        #expect(
            report.warnings == [
                "FeedCommunication had exchanges in flight after it was suspended, which were ended; `suspend` must end them"
            ])
        try await events.until { $0 == ["suspend", "call.retired"] }
        await eventually { executor.cancelled.load(ordering: .relaxed) == 1 }
        executor.latch.open()  // the answer of the first comes too late for anybody
        _ = try await feed.listen()
        try await events.until { $0 == ["suspend", "call.retired", "204"] }
        await counters.host.stop()
    }
}

/// Holds exchanges up at a latch.
private final class HeldExecutor: HTTPExecutor {
    let schemes = ["held"]
    let latch = TestGate()
    let cancelled = Atomic(0)

    let capabilities: HTTPCapabilities = []

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        await withTaskCancellationHandler {
            await latch.passThoughCancelled()
        } onCancel: {
            cancelled.wrappingAdd(1, ordering: .relaxed)
        }
        return HTTPStreamedResponse(HTTPResponse(status: 204))
    }
}

private struct Feeds: Contract {
    static let version: Version = "1.0.0"
    /// Begins an exchange, and does not wait for it.
    let listen = AsyncMethod<Nothing, Nothing>()
    /// Answers with the status of a URL.
    let fetch = AsyncMethod<String, String>()
}

private final class FeedManager: Manager {
    typealias Provides = Feeds
    static let className = "FeedManager"
    struct Wires: Wiring {
        let communicationController: Wire<Feeds>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.listen) { manager, _, call in try await manager.wires.communicationController.listen(call) }
        table.async(\.fetch) { manager, url, call in
            try await manager.wires.communicationController.fetch(url, call)
        }
    }
}

/// Answers every request with 204.
private final class ExclusiveExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "ExclusiveExecutor"
    static let isExclusive = true

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { _, _, _ in [] }
        table.stream(\.exchange) { _, _, parts, _ in try await parts.send(.head(HTTPHead(status: 204, headers: [:]))) }
    }
}

private final class FeedCommunication: CommunicationController {
    typealias Provides = Feeds
    struct Configuration: Codable, Sendable {
        var key: String
    }
    static let className = "FeedCommunication"
    static let isExclusive = true
    private let context: Context
    private let events: CounterEvents

    init(_ context: Context) { (self.context, events) = (context, CounterEvents.of(context.configuration.key)) }

    func suspend() { events.note("suspend") }
    func stop() {}

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { feed, url, call in
            try await feed.events.script.opened()
            return "\(try await feed.context.http.send(HTTPRequest("GET", url), call).status)"
        }
        table.async(\.listen) { feed, _, _ in
            feed.context.tasks.run { [context = feed.context, events = feed.events] in
                do throws(BackplaneError) {
                    events.note(
                        "\(try await context.http.send(HTTPRequest("GET", "held:news"), context.begin()).status)")
                } catch {
                    events.note("\(error.code)")
                }
            }
            return Nothing()
        }
    }
}

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
private final class HeldStore: PassingStore {
    let latch = TestGate()
    let store: any RecordStore = MemoryRecordStore()
    private let opened = Atomic(false)
    /// Where the component finds it: one test at a time.
    static let current = Mutex<HeldStore?>(nil)
    let wasOpenAtSuspend = Mutex<[Bool]>([])
    var isOpen: Bool { opened.load(ordering: .relaxed) }

    func write(_ batch: RecordBatch, in namespace: String) async throws(BackplaneError) -> [Int64] {
        await latch.passThoughCancelled()
        opened.store(true, ordering: .relaxed)
        return try await store.write(batch, in: namespace)
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
