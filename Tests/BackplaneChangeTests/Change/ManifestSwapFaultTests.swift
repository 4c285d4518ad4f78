import Backplane
import BackplaneDocuments
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Swaps with another manifest that fail at every step: the old manifest, code and state go on.
@Suite(.timeLimit(.minutes(10)))
struct ManifestSwapFaultTests {
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

    /// A counter that another calls, an exclusive worker that goes, and one that comes in its place.
    private struct ChangingHost {
        let counters: CounterHost
        let leaving = CounterEvents(), coming = CounterEvents()

        init(lanes: LaneRule, _ fault: Fault) throws {
            let script = CounterScript(act: { counter, _, call in
                "\(try await counter.context.wires.next!.add(1, call))"
            })
            counters = try CounterHost(
                ["A", "B"], wires: ["B": "A"], lanes: lanes, script: script,
                others: ["Leaving": WorkerPlugin.manager("ExclusiveWorker", leaving)], linked: [WorkerPlugin.edition()]
            ) {
                $0.swapFault = { action throws(BackplaneError) in try fault.check(action) }
            }
        }

        /// `A` is called `C`, `B` gets another wire of that name, and the workers change.
        var document: ManifestDocument {
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

        func swap(_ options: ChangeOptions = .patient)
            async throws(BackplaneError) -> ChangeReport
        {
            counters.next(
                CounterScript(
                    edition: 2,
                    act: { counter, _, call in "\(try await counter.context.wires.next!.add(1, call))" }))
            let coordinator = counters.host.coordinator, document = document
            return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
                try await coordinator.swap(linked: [CounterHost.edition("2.0.0")], applying: document, options)
            }
        }

        var states: [String] { get async { await counters.host.managers.map { "\($0.name) \($0.state)" } } }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a fault at every step in turn, time and again, leaves manifest, code and state as they were`(
        lanes: LaneRule
    ) async throws {
        // The lane makes no difference to what is undone.
        let rounds = Nightly.count(5, night: lanes == .fastest ? 100 : 10)
        let fault = Fault(), changing = try ChangingHost(lanes: lanes, fault), host = changing.counters.host
        try await host.start()
        let (a, b) = (try await changing.counters.counter("A"), try await changing.counters.counter("B")),
            callers = Callers()
        let worker: Remote<Working> = try await host.manager("Leaving")
        callers.begin { Int(try await b.act("")) ?? -1 }
        callers.begin { try await b.add(1) }
        await eventually { callers.answers > 10 }
        var turn = 0, actions: [ChangeAction] = []
        while true {
            fault.begin(turn)
            var failures = 0
            for round in 0..<rounds {
                fault.begin(turn)
                do {
                    _ = try await changing.swap()
                    break
                } catch {
                    failures += 1
                    #expect(error.code == .swapFailed, "turn \(turn), round \(round): \(error)")
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
        #expect(await changing.states == ["B ready", "C ready", "Coming ready"])
        let c = try await changing.counters.counter("C")
        #expect(try await (a.edition(), c.edition(), b.edition()) == (2, 2, 2), "those who held A call C")
        #expect([try c.sumNow(), try b.sumNow()] == callers.last, "the state is what the callers were told last")
        #expect(await error { try await worker.edition() }?.code == .unknownManager)
        await eventually { Self.workers(changing.leaving) == 0 && Self.workers(changing.coming) == 1 }
        await host.stop()
        for events in [changing.counters.counters["A"]!, changing.counters.counters["B"]!] {
            try await events.until { $0.left == [:] }
        }
        await eventually { Self.workers(changing.coming) == 0 }
    }

    /// How many are there, made and not gone.
    private static func workers(_ events: CounterEvents) -> Int {
        events.left.values.reduce(0, +)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a failed probation brings back manifest, code and the newer state`(lanes: LaneRule) async throws {
        let fault = Fault(), changing = try ChangingHost(lanes: lanes, fault), host = changing.counters.host
        try await host.start()
        let (a, b) = (try await changing.counters.counter("A"), try await changing.counters.counter("B"))
        let worker: Remote<Working> = try await host.manager("Leaving")
        #expect(try await (a.add(5), b.add(7)) == (5, 7))
        // The watch of the probation is the last that can fail.
        var options = ChangeOptions.patient
        options.probation = Probation(duration: .seconds(3_600))
        var turn = 0
        while turn < 40 {
            fault.begin(turn)
            if let report = try? await changing.swap(options) {
                #expect(fault.met == [.watch])
                #expect(report.outcome == .rolledBack && report.warnings == [], "\(report.warnings)")
                break
            }
            turn += 1
        }
        #expect(await changing.states == ["A ready", "B ready", "Leaving ready"])
        #expect(try await worker.edition() == 1)
        #expect(try await (a.add(1), b.add(1)) == (6, 8), "with the state of now")
        #expect(await error { try await changing.counters.counter("C") }?.code == .unknownManager)
        #expect(try await changing.counters.counter("A").add(1) == 7)
        await eventually { Self.workers(changing.coming) == 0 }
        await host.stop()
    }
}
