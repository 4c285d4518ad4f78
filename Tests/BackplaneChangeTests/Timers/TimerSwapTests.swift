import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Timers while their component is swapped: one generation's fire, and none is lost or fires twice.
@Suite(.timeLimit(.minutes(5)))
struct TimerSwapTests {
    @Test(arguments: TimerHost.Kind.allCases)
    func `the phase survives, and only the new code's timer fires`(kind: TimerHost.Kind) async throws {
        let timers = try await TimerHost(kind, .ticking())
        try await timers.clock.run(for: .seconds(50))
        #expect(timers.fired == ["fired 1"])
        #expect(try await timers.swap(.ticking(2)).outcome == .changed)
        #expect(await timers.statistics.map(\.next) == [.seconds(10)])
        try await timers.clock.run(for: .seconds(9))
        #expect(timers.fired == ["fired 1"])
        try await timers.clock.run(for: .seconds(31))
        #expect(timers.fired == ["fired 1", "fired 2", "fired 2"])
        await timers.host.stop()
    }

    @Test(arguments: TimerHost.Kind.allCases)
    func `a timer is found by its name, and the others start anew`(kind: TimerHost.Kind) async throws {
        let timers = try await TimerHost(
            kind,
            CounterScript(edition: 1) { tasks, _ in
                try tasks.every(.seconds(60), name: "a") { _ in }
                try tasks.every(.seconds(60), name: "b") { _ in }
                try tasks.every(.seconds(60), name: "c") { _ in }
                try tasks.every(.seconds(60)) { _ in }
            })
        try await timers.clock.run(for: .seconds(45))
        try await timers.swap(
            CounterScript(edition: 2) { tasks, _ in
                try tasks.every(.seconds(30), name: "b") { _ in }
                try tasks.every(.seconds(100), name: "a") { _ in }
                try tasks.every(.seconds(60), name: "d") { _ in }
                try tasks.after(.seconds(60), name: "c") { _ in }
                try tasks.every(.seconds(50)) { _ in }
            })
        try await timers.clock.run(for: .zero)
        #expect(
            await timers.statistics.map { "\($0.name) \($0.next.map { $0 / .seconds(1) } ?? -1)" } == [
                "b 30.0", "a 55.0", "d 60.0", "c 60.0", "timer 1 50.0",
            ])
        await timers.host.stop()
    }

    @Test func `with a gate a swap waits for a body, and no other begins`() async throws {
        let (go, goes) = AsyncStream<Void>.makeStream(), (begun, begins) = AsyncStream<Void>.makeStream()
        let timers = try await TimerHost(
            .gated,
            CounterScript(edition: 1) { tasks, events in
                try tasks.every(.seconds(10), name: "slow") { _ in
                    begins.yield()
                    for await _ in go { break }
                    events.note("fired 1")
                }
                try tasks.every(.seconds(10), name: "quick") { _ in events.note("quick 1") }
            })
        timers.clock.advance(by: .seconds(10))
        for await _ in begun { break }
        try await timers.events.until { $0.contains("quick 1") }
        // A body that has noted itself may have yet to return, and its timer is not scheduled before.
        await eventually { await timers.statistics.first { $0.name == "quick" }?.isRunning == false }
        let next = CounterScript(edition: 2) { tasks, events in
            try tasks.every(.seconds(10), name: "slow") { _ in events.note("fired slow 2") }
            try tasks.every(.seconds(10), name: "quick") { _ in events.note("fired quick 2") }
        }
        let drain = Duration.seconds(300)
        let swap = Task { try await timers.swap(next, ChangeOptions(drain: .upTo(drain, then: .fail))) }
        // The timers are held before the calls are drained.
        try await timers.clock.waiters(for: drain)
        timers.clock.advance(by: .seconds(40))
        #expect(!timers.events.all.contains("suspend 1"))
        #expect(timers.events.all.count { $0 == "quick 1" } == 1, "held back while the swap waits")
        goes.yield()
        #expect(try await swap.value.outcome == .changed)
        let order = timers.events.all.filter { ["fired 1", "suspend 1", "activate 2"].contains($0) }
        #expect(order == ["fired 1", "suspend 1", "activate 2"])
        timers.clock.advance(by: .zero)
        try await timers.clock.run(for: .zero)
        #expect(timers.fired == ["fired 1", "fired quick 2"], "the times that passed meanwhile are made up for once")
        #expect(
            await timers.statistics.map(\.next) == [.seconds(10), .seconds(10)], "those during a body are skipped")
        await timers.host.stop()
    }

    @Test func `a body that does not end within the drain fails the swap, which names it`() async throws {
        let (go, goes) = AsyncStream<Void>.makeStream(), (begun, begins) = AsyncStream<Void>.makeStream()
        let timers = try await TimerHost(
            .gated,
            CounterScript(edition: 1) { tasks, events in
                try tasks.every(.seconds(10), name: "slow") { _ in
                    begins.yield()
                    for await _ in go { break }
                    events.note("fired 1")
                }
            })
        timers.clock.advance(by: .seconds(10))
        for await _ in begun { break }
        let failure = await error {
            try await timers.counters.test.expiring(.milliseconds(20)) {
                try await timers.swap(
                    .ticking(2, named: "slow"), ChangeOptions(drain: .upTo(.milliseconds(20), then: .fail)))
            }
        }
        #expect(failure?.message.contains("timer `slow` of Counter") == true, "\(String(describing: failure))")
        goes.yield()
        try await timers.clock.run(for: .zero)
        timers.clock.advance(by: .seconds(10))
        for await _ in begun { break }
        goes.yield()
        try await timers.clock.run(for: .zero)
        #expect(timers.fired == ["fired 1", "fired 1"], "the old code's timer goes on")
        await timers.host.stop()
    }

    @Test(arguments: TimerHost.Kind.allCases)
    func `a swap that fails leaves the old timers where they were`(kind: TimerHost.Kind) async throws {
        struct Refused: Error {}
        let timers = try await TimerHost(kind, .ticking())
        try await timers.clock.run(for: .seconds(40))
        var script = CounterScript.ticking(2)
        script.activated = { _ in throw Refused() }
        script.opened = { throw Refused() }
        let next = script
        #expect(await error { try await timers.swap(next) }?.code == .swapFailed)
        try await timers.clock.run(for: .seconds(20))
        #expect(timers.fired == ["fired 1", "fired 1"])
        await timers.host.stop()
    }

    @Test(arguments: TimerHost.Kind.allCases)
    func `after a failed probation the old code's timer continues where the new one's was`(kind: TimerHost.Kind)
        async throws
    {
        struct Unhealthy: Error {}
        let timers = try await TimerHost(kind, .ticking()), isIll = Atomic<Bool>(false)
        try await timers.clock.run(for: .seconds(40))
        var script = CounterScript.ticking(2)
        script.health = { if isIll.load(ordering: .relaxed) { throw Unhealthy() } }
        let next = script, probation = Probation(duration: .seconds(3_600), healthInterval: .seconds(45))
        let swap = Task {
            try await timers.swap(next, ChangeOptions(probation: probation, drain: .upTo(.seconds(60), then: .fail)))
        }
        await eventually { await timers.statistics.first?.next == .seconds(20) && timers.events.all.contains("made 2") }
        try await eventually {
            try await timers.host.generations(of: nil).contains { $0.state == .onProbation }
        }
        // The gate opens, and the new code's timer begins, after the generation has come into its probation.
        try await timers.clock.waiters(for: .seconds(20))
        try await timers.clock.waiters(for: .seconds(45))
        try await timers.clock.run(for: .seconds(30))
        #expect(timers.fired == ["fired 1", "fired 2"])
        timers.events.next(.ticking(1))
        isIll.store(true, ordering: .relaxed)
        timers.clock.advance(by: .seconds(15))
        #expect(try await swap.value.outcome == .rolledBack)
        try await timers.clock.run(for: .seconds(5))
        #expect(timers.fired == ["fired 1", "fired 2", "fired 1"])
        await timers.host.stop()
    }
}
