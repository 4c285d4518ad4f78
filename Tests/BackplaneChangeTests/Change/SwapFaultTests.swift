import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Swaps that fail at every step: the old code goes on, and who calls notices nothing.
@Suite(.timeLimit(.minutes(10)))
struct SwapFaultTests {
    /// The action that fails next, if any.
    private final class Fault: Sendable {
        let action = Mutex<ChangeAction?>(nil)
        let met = Mutex(0)

        func check(_ action: ChangeAction) throws(BackplaneError) {
            guard self.action.withLock({ $0 == action }) else { return }
            met.withLock { $0 += 1 }
            throw BackplaneError(.componentFailed, "on purpose")
        }
    }

    private static let actions: [ChangeAction] = [
        .create(0), .create(1), .hold, .drain, .suspend(1), .suspend(0), .export(0), .export(1), .import(0), .import(1),
        .flip, .activate(0), .activate(1),
    ]

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a fault at every step in turn, many times each, leaves the old code serving and its state as it was`(
        lanes: LaneRule
    ) async throws {
        let fault = Fault(), rounds = Nightly.count(5, night: 100)
        let counters = try CounterHost(
            ["A", "B"], wires: ["B": "A"], lanes: lanes,
            script: CounterScript(act: { counter, _, call in "\(try await counter.context.wires.next!.add(1, call))" })
        ) {
            $0.swapFault = { action throws(BackplaneError) in try fault.check(action) }
        }
        let (a, b) = (try await counters.counter("A"), try await counters.counter("B")), callers = Callers()
        // One counts in A through B, one in B: each answer is one more than the last, whatever happens meanwhile.
        callers.begin { Int(try await b.act("")) ?? -1 }
        callers.begin { try await b.add(1) }
        await eventually { callers.answers > 10 }
        for (number, action) in Self.actions.enumerated() {
            fault.action.withLock { $0 = action }
            for round in 0..<rounds {
                let failure = await error { try await counters.swap(CounterScript(edition: 2)) }
                #expect(failure?.code == .swapFailed, "\(action), round \(round)")
                #expect(failure?.message.contains("\(action.step.rawValue): on purpose") == true)
            }
            #expect(fault.met.withLock { $0 } == rounds * (number + 1))
            let before = callers.answers
            await eventually { callers.answers > before }
            #expect(try await a.edition() == 1)
        }
        #expect(await callers.end() == [])
        let sums = (try a.sumNow(), try b.sumNow())
        #expect([sums.0, sums.1] == callers.last, "the state is what the callers were told last")
        try await counters.expectNothingLeft(slots: ["A": 2, "B": 1])
        #expect(await counters.host.managers.map { "\($0.state)" } == ["ready", "ready"])

        fault.action.withLock { $0 = nil }
        try await counters.swap(CounterScript(edition: 2))
        #expect(try await a.edition() == 2)
        #expect(try a.sumNow() == sums.0 && b.sumNow() == sums.1)
        await counters.host.stop()
        for name in ["A", "B"] { try await counters.counters[name]!.until { $0.left == [:] } }
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
