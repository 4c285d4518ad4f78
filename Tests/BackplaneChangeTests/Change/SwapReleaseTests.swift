import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What an old instance waits for before it is given up.
@Suite(.timeLimit(.minutes(5)))
struct SwapReleaseTests {
    private func generations(_ counters: CounterHost) async throws -> [[String]] {
        try await counters.host.generations(of: WorkerPlugin.id).map {
            $0.heldBy.filter { $0 != "kept for a rollback" }
        }
    }

    @Test func `a call whose caller is gone keeps the instance it is in, and no later one`() async throws {
        let never = TestGate(),
            events = CounterEvents(
                CounterScript(serve: { text in
                    await never.passThoughCancelled()
                    return text
                }))
        let counters = try CounterHost(
            [],
            others: [
                "Worker": WorkerPlugin.manager("Worker", events),
                "BackgroundCaller": BackgroundCallerPlugin.manager("Worker"),
            ],
            linked: [WorkerPlugin.edition(), BackgroundCallerPlugin.edition()])
        let caller: Remote<BackgroundCalls> = try await counters.host.manager("BackgroundCaller")
        // A call of its own, that goes on when whoever made it has been swapped and is gone.
        _ = try await caller.begin("stay")
        try await never.arrivals()
        try await counters.swap(linked: [BackgroundCallerPlugin.edition("2.0.0")])
        try await counters.expectNothingLeft(slots: ["Worker": 1], inFlight: ["Worker": 1])

        events.next(CounterScript(edition: 2))
        try await counters.swap(linked: [WorkerPlugin.edition("2.0.0")])
        try await eventually {
            try await generations(counters) == [["1 call in Worker that has not ended"], ["active: Worker"]]
        }
        #expect(!events.all.contains("suspend 1"))
        events.next(CounterScript(edition: 3))
        try await counters.swap(linked: [WorkerPlugin.edition("3.0.0")])
        try await events.until { $0.contains("gone 2") }
        #expect(!events.all.contains("suspend 1"), "the call is still in it")
        #expect(try await counters.gate("Worker").callsInFlight == 0, "and none of those that changes wait for")
        never.open()
        try await events.until { $0.suffix(2) == ["suspend 1", "gone 1"] }
        #expect(await counters.host.statistics.first { $0.component == "Worker" }?.calls == 1)
        try await counters.expectNothingLeft(slots: ["Worker": 1])
        await counters.host.stop()
    }
}

/// A plugin whose manager begins calls that nobody waits for.
enum BackgroundCallerPlugin {
    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.background", version: version) { $0.add(BackgroundCaller.self) }
    }

    static func manager(_ worker: String) -> ManifestValue {
        ["className": "BackgroundCaller", "uses": ["worker": .string(worker)]]
    }
}

struct BackgroundCalls: Contract {
    static let version: Version = "1.0.0"
    /// Has the worker serve, and does not wait for it.
    let begin = AsyncMethod<String, Nothing>()
}

final class BackgroundCaller: Manager {
    typealias Provides = BackgroundCalls
    struct Wires: Wiring {
        let worker: Wire<Working>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { caller, text, _ in
            caller.context.tasks.run { [context = caller.context] in
                _ = try? await context.wires.worker.serve(text, context.begin())
            }
            return Nothing()
        }
    }
}
