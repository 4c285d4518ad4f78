import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Swaps, also with another manifest, that fail at every step: the old code goes on, and who calls notices nothing.
@Suite(.timeLimit(.minutes(10)))
struct SwapFaultTests {
    /// Fails the action whose turn it is, counted from the first that can fail.
    private final class Fault: Sendable {
        private let state = Mutex((turn: Int?.none, next: 0, met: [ChangeAction]()))

        func check(_ action: ChangeAction) throws(BackplaneError) {
            let fails = state.withLock { state in
                defer { state.next += 1 }
                guard state.next == state.turn else { return false }
                state.met.append(action)
                return true
            }
            if fails { throw BackplaneError(.componentFailed, "on purpose") }
        }

        /// - Parameter turn: the place of the action that fails, or none.
        func begin(_ turn: Int?) { state.withLock { $0 = (turn, 0, []) } }

        var met: [ChangeAction] { state.withLock { $0.met } }
    }

    /// A counter that another calls, an exclusive worker that goes, and one that comes in its place if the manifest
    /// changes, too.
    private struct ChangingHost {
        let counters: CounterHost
        let changesManifest: Bool
        let leaving = CounterEvents(), coming = CounterEvents()
        private static let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, _, call in
            "\(try await counter.context.wires.next!.add(1, call))"
        }

        init(lanes: LaneRule, changesManifest: Bool, _ fault: Fault) throws {
            self.changesManifest = changesManifest
            counters = try CounterHost(
                ["A", "B"], wires: ["B": "A"], lanes: lanes, script: CounterScript(act: Self.act),
                others: ["Leaving": WorkerPlugin.manager("ExclusiveWorker", leaving)], linked: [WorkerPlugin.edition()]
            ) {
                $0.swapFault = { action throws(BackplaneError) in try fault.check(action) }
            }
        }

        /// `A` is called `C`, `B` gets another wire of that name, and the workers change.
        private var document: ManifestDocument {
            func counter(_ name: String, _ more: [String: ManifestValue]) -> ManifestValue {
                let own: [String: ManifestValue] = [
                    "className": "StatefulCounter", "configuration": ["key": .string(counters.counters[name]!.key)],
                ]
                return .dictionary(own.merging(more) { first, _ in first })
            }
            return ManifestDocument([
                "manifestVersion": 1, "plugins": [],
                "managers": [
                    "C": counter("A", ["was": "A"]), "B": counter("B", ["uses": ["next": "C"]]),
                    "Coming": WorkerPlugin.manager("ExclusiveWorker", coming),
                ],
            ])
        }

        func swap(_ options: ChangeOptions = .patient) async throws(BackplaneError) -> ChangeReport {
            counters.next(CounterScript(edition: 2, act: Self.act))
            return try await counters.host.swap(
                linked: [CounterHost.edition("2.0.0")], applying: changesManifest ? document : nil, options)
        }

        var states: [String] { get async { await counters.host.managers.map { "\($0.name) \($0.state)" } } }

        /// How many of the workers are there, made and not gone.
        var workers: (leaving: Int, coming: Int) {
            (leaving.left.values.reduce(0, +), coming.left.values.reduce(0, +))
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded], [false, true])
    func `a fault at every step in turn, time and again, leaves manifest, code and state as they were`(
        lanes: LaneRule, changesManifest: Bool
    ) async throws {
        // The lane makes no difference to what is undone.
        let rounds = Nightly.count(5, night: lanes == .fastest ? 100 : 10), fault = Fault()
        let changing = try ChangingHost(lanes: lanes, changesManifest: changesManifest, fault),
            host = changing.counters.host
        try await host.start()
        let (a, b) = (try await changing.counters.counter("A"), try await changing.counters.counter("B")),
            callers = Callers()
        let worker: Remote<Working> = try await host.manager("Leaving")
        // One counts in A through B, one in B: each answer is one more than the last, whatever happens meanwhile.
        callers.begin { Int(try await b.act("")) ?? -1 }
        callers.begin { try await b.add(1) }
        await eventually { callers.answers > 10 }

        var turn = 0, actions: [ChangeAction] = []
        while true {
            var failures = 0
            for round in 0..<rounds {
                fault.begin(turn)
                do {
                    _ = try await changing.swap()
                    break
                } catch {
                    failures += 1
                    #expect(error.code == .swapFailed, "turn \(turn), round \(round): \(error)")
                    let step = fault.met.first?.step.rawValue ?? "no step"
                    #expect(error.message.contains("\(step): on purpose"), "turn \(turn): \(error)")
                }
                guard fault.met.count == 1 else {
                    Issue.record("turn \(turn) did not come: \(fault.met)")
                    break
                }
            }
            guard failures > 0 else { break }
            #expect(failures == rounds)
            actions += fault.met
            let before = callers.answers
            await eventually { callers.answers > before }
            #expect(await changing.states == ["A ready", "B ready", "Leaving ready"])
            #expect(try await (a.edition(), b.edition(), worker.edition()) == (1, 1, 1))
            #expect(await error { try await changing.counters.counter("C") }?.code == .unknownManager)
            turn += 1
        }

        // The last swap met no fault any more.
        #expect(await callers.end() == [])
        #expect(Set(actions.map(\.step)) == [.prepare, .quiesce, .suspend, .export, .import, .flip, .activate])
        #expect(try await (a.edition(), b.edition()) == (2, 2), "those who hold A call what continues it")
        #expect([try a.sumNow(), try b.sumNow()] == callers.last, "the state is what the callers were told last")
        if changesManifest {
            #expect(await changing.states == ["B ready", "C ready", "Coming ready"])
            #expect(try await changing.counters.counter("C").edition() == 2)
            #expect(await error { try await worker.edition() }?.code == .unknownManager)
            await eventually { changing.workers == (0, 1) }
        } else {
            #expect(await changing.states == ["A ready", "B ready", "Leaving ready"])
            try await changing.counters.expectNothingLeft(slots: ["A": 2, "B": 1, "Leaving": 1])
        }
        await host.stop()
        for name in ["A", "B"] { try await changing.counters.counters[name]!.until { $0.left == [:] } }
        await eventually { changing.workers == (0, 0) }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a failed probation brings back manifest, code and the newer state`(lanes: LaneRule) async throws {
        let fault = Fault(), changing = try ChangingHost(lanes: lanes, changesManifest: true, fault),
            host = changing.counters.host
        try await host.start()
        let (a, b) = (try await changing.counters.counter("A"), try await changing.counters.counter("B"))
        let worker: Remote<Working> = try await host.manager("Leaving")
        #expect(try await (a.add(5), b.add(7)) == (5, 7))

        // The watch of the probation is the last that can fail.
        var options = ChangeOptions.patient
        options.probation = Probation(duration: .seconds(3_600))
        for turn in 0..<40 {
            fault.begin(turn)
            guard let report = try? await changing.swap(options) else { continue }
            #expect(report.outcome == .rolledBack && report.warnings == [], "\(report.warnings)")
            break
        }
        #expect(fault.met == [.watch])
        #expect(await changing.states == ["A ready", "B ready", "Leaving ready"])
        #expect(try await worker.edition() == 1)
        #expect(try await (a.add(1), b.add(1)) == (6, 8), "with the state of now")
        #expect(await error { try await changing.counters.counter("C") }?.code == .unknownManager)
        await eventually { changing.workers.coming == 0 }
        await host.stop()
    }

    // MARK: What components do

    /// One step that fails, of the old code or of the new.
    struct Failing: Sendable, CustomTestStringConvertible {
        var step: ChangeStep
        var words: String
        var old: @Sendable (@escaping @Sendable () async throws -> Void) -> CounterScript = { _ in CounterScript() }
        var new: @Sendable (@escaping @Sendable () async throws -> Void) -> CounterScript = { _ in
            CounterScript(edition: 2)
        }
        /// The old one has been suspended when it comes to this.
        var isLate = true
        var testDescription: String { step.rawValue }
    }

    private static let failing: [Failing] = [
        Failing(
            step: .prepare, words: "be created",
            new: { fails in CounterScript(edition: 2, made: { _ in try await fails() }) }, isLate: false),
        Failing(
            step: .suspend, words: "be suspended",
            old: { fails in CounterScript(suspended: { _ in try await fails() }) }),
        Failing(
            step: .export, words: "export its state",
            old: { fails in
                CounterScript(exported: {
                    try await fails()
                    return $0
                })
            }),
        Failing(
            step: .import, words: "import the state",
            new: { fails in
                CounterScript(
                    edition: 2,
                    imported: {
                        try await fails()
                        return $0
                    })
            }),
        Failing(
            step: .activate, words: "be activated",
            new: { fails in CounterScript(edition: 2, activated: { _ in try await fails() }) }),
    ]

    @Test(arguments: failing)
    func `a component that throws in a step keeps the swap, and the next one succeeds`(failing: Failing) async throws {
        let fails: @Sendable () async throws -> Void = { throw BackplaneError(.componentFailed, "not today") }
        // Only the first time: what it does to be suspended at the end is its own matter.
        let once = Once()
        let counters = try CounterHost(script: failing.old { if once.isFirst { try await fails() } }),
            counter = try await counters.counter(), events = counters.counters["Counter"]!
        #expect(try await counter.add(5) == 5)
        let failure = await error { try await counters.swap(failing.new(fails)) }
        #expect(failure?.code == .swapFailed)
        #expect(
            failure?.message.hasSuffix(
                "could not be activated: \(failing.step.rawValue): not today; the old code keeps running") == true,
            "\(String(describing: failure))")
        #expect(try await counter.add(1) == 6)
        #expect(try await counter.edition() == 1)
        #expect(events.all.contains("resume 1") == failing.isLate, "\(events.all)")
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        try await counters.swap(CounterScript(edition: 3))
        #expect(try await counter.edition() == 3)
        #expect(try await counter.add(1) == 7)
        await counters.host.stop()
        try await events.until { $0.left == [:] }
    }

    @Test(arguments: failing)
    func `a component that hangs in a step keeps the swap after its time, and what it answers later does no harm`(
        failing: Failing
    ) async throws {
        let hanging = TestGate(), once = Once()
        let hangs: @Sendable () async throws -> Void = { if once.isFirst { await hanging.passThoughCancelled() } }
        let counters = try CounterHost(script: failing.old(hangs)), counter = try await counters.counter(),
            events = counters.counters["Counter"]!
        #expect(try await counter.add(5) == 5)
        let failure = await error {
            try await counters.test.expiring(.seconds(10), once: { try await hanging.arrivals() }) {
                try await counters.swap(
                    failing.new(hangs), ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(10)))
            }
        }
        #expect(
            failure?.message.hasSuffix(
                "\(failing.step.rawValue): Counter took longer than 10.0 seconds to \(failing.words); the old code keeps running"
            )
                == true,
            "\(String(describing: failure))")
        #expect(try await counter.add(1) == 6)
        #expect(try await counter.edition() == 1)
        hanging.open()
        // Steps never overlap: one that was in its own step is resumed when that is over.
        if failing.isLate { try await events.until { $0.contains("resume 1") } }
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        try await events.until { $0.left == [1: 1] }
        try await counters.swap(CounterScript(edition: 3))
        #expect(try await counter.add(1) == 7)
        #expect(try await counter.edition() == 3)
        await counters.host.stop()
        try await events.until { $0.left == [:] }
        if failing.step == .activate { #expect(events.all.contains("suspend 2"), "what it took late it gives up") }
    }

    @Test(arguments: failing)
    func `a stop in the middle of a swap ends both, in whatever step`(failing: Failing) async throws {
        let latch = TestGate(), hangs: @Sendable () async throws -> Void = { await latch.passThoughCancelled() }
        let counters = try CounterHost(script: failing.old(hangs), stopLimit: .seconds(60)),
            counter = try await counters.counter()
        _ = try await counter.add(5)
        let swap = Task {
            try await counters.swap(
                failing.new(hangs), ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        }
        try await latch.arrivals()
        let gate = try await counters.gate("Counter"), waiting = Task { try await counter.act("hello") }
        await eventually { failing.step == .prepare || gate.callsWaiting == 1 }
        let stop = Task { await counters.host.stop() }
        let failure = await error { try await swap.value }
        #expect(
            failure?.code == .hostStopped,
            "\(failing.step): \(String(describing: failure))")
        latch.open()
        await stop.value
        _ = await waiting.result
        let events = counters.counters["Counter"]!
        try await events.until { $0.left == [:] }
        #expect(events.all.contains("stop 1"), "the old one is stopped as it would have been: \(events.all)")
        #expect(await error { try await counter.add(1) }?.code == .callRetired)
    }

    @Test func `state that does not decode, or is too large, keeps the swap`() async throws {
        let counters = try CounterHost { $0.stateLimit = 10 }, counter = try await counters.counter()
        #expect(try await counter.add(5) == 5)
        try await counters.swap(CounterScript(edition: 2))
        #expect(try await counter.add(1_000) == 1_005)
        let encoded = ChangeOptions(encodesState: true)
        let failure = await error { try await counters.swap(CounterScript(edition: 3), encoded) }
        #expect(
            failure?.message.contains(
                "the state of Counter has 12 bytes, but the host's limit is 10 (`HostOptions.stateLimit`)") == true,
            "\(String(describing: failure))")
        #expect(try await counter.edition() == 2)
        try await counters.swap(CounterScript(edition: 3))
        #expect(try await counter.add(1) == 1_006, "the limit is for bytes")
        await counters.host.stop()
    }
}

/// `true` the first time.
final class Once: Sendable {
    private let asked = Mutex(false)
    var isFirst: Bool {
        asked.withLock { asked in
            defer { asked = true }
            return !asked
        }
    }
}
