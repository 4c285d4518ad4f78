import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
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
