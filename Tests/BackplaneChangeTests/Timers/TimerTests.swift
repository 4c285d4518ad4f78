import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The timers of one instance, which the host keeps.
@Suite(.timeLimit(.minutes(5)))
struct TimerTests {
    @Test(arguments: TimerHost.Kind.allCases)
    func `a timer fires at every period once the component is up`(kind: TimerHost.Kind) async throws {
        let timers = try await TimerHost(kind, .ticking())
        try await timers.clock.run(for: .seconds(29))
        #expect(timers.fired == [])
        try await timers.clock.run(for: .seconds(1))
        #expect(timers.fired == ["fired 1"])
        try await timers.clock.run(for: .seconds(90))
        #expect(timers.fired.count == 4)
        await timers.host.stop()
        try await timers.clock.run(for: .seconds(90))
        #expect(timers.fired.count == 4, "timers end with the instance")
        #expect(timers.clock.pending == 0)
    }

    @Test func `bodies of one timer never overlap, and times that pass meanwhile are skipped`() async throws {
        let (go, goes) = AsyncStream<Void>.makeStream(), running = Mutex((now: 0, most: 0))
        let timers = try await TimerHost(
            .ungated,
            CounterScript(edition: 1) { tasks, events in
                try tasks.every(.seconds(10), name: "slow") { _ in
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    for await _ in go { break }
                    running.withLock { $0.now -= 1 }
                    events.note("fired")
                }
                try tasks.every(.seconds(10), name: "quick") { _ in events.note("quick") }
            })
        timers.clock.advance(by: .seconds(10))
        await eventually { running.withLock { $0.now == 1 } }
        for _ in 0..<5 {
            timers.clock.advance(by: .seconds(9))
            await eventually { await timers.statistics.first { $0.name == "quick" }?.isRunning == false }
        }
        #expect(running.withLock { $0.most } == 1)
        try await timers.events.until { $0.count { $0 == "quick" } == 5 }
        #expect(await timers.statistics.first { $0.name == "slow" }?.isRunning == true)
        goes.yield()
        try await timers.clock.run(for: .zero)
        #expect(timers.fired.count == 1)
        // It is 55: 20, 30, 40 and 50 were skipped, and the next is 60.
        #expect(await timers.statistics.first { $0.name == "slow" }?.next == .seconds(5))
        timers.clock.advance(by: .seconds(5))
        await eventually { running.withLock { $0.now == 1 } }
        goes.yield()
        try await timers.clock.run(for: .zero)
        #expect(running.withLock { $0.most } == 1)
        await timers.host.stop()
    }

    @Test func `what a body throws is logged with the component and the timer, and the timer goes on`() async throws {
        struct Broken: Error {}
        let timers = try await TimerHost(
            .gated,
            CounterScript(edition: 1) { tasks, events in
                try tasks.every(.seconds(10), name: "broken") { _ in
                    events.note("fired")
                    throw Broken()
                }
            })
        try await timers.clock.run(for: .seconds(30))
        #expect(timers.fired.count == 3)
        let lines = timers.log.records.filter { $0.message == "timer failed" }
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.level == .error && $0.metadata["component"] == "Counter" })
        #expect(
            lines.allSatisfy { $0.metadata["timer"] == "broken" && $0.metadata["error"]?.contains("Broken") == true })
        #expect(await timers.statistics.map(\.failures) == [3])
        await timers.host.stop()
    }

    @Test func `a body that misses its deadline is cancelled, reported, and still never overlaps`() async throws {
        let cancelled = Mutex(0)
        let timers = try await TimerHost(
            .ungated,
            CounterScript(edition: 1) { tasks, events in
                try tasks.every(.seconds(10), name: "stuck", limit: .milliseconds(20)) { call in
                    events.note("fired \(call.timeLeft != nil)")
                    try? await Task.sleep(for: .seconds(3_600))
                    cancelled.withLock { $0 += 1 }
                }
            })
        timers.clock.advance(by: .seconds(10))
        try await timers.clock.expire(.milliseconds(20))
        await eventually { cancelled.withLock { $0 == 1 } }
        let line = try #require(timers.log.records.first { $0.message == "timer failed" })
        #expect(line.metadata["timer"] == "stuck")
        #expect(line.metadata["error"]?.contains("took longer than 0.02 seconds") == true, "\(line.metadata)")
        #expect(timers.fired == ["fired true"])
        await eventually { await timers.statistics.first?.isRunning == false }
        timers.clock.advance(by: .milliseconds(9_980))
        try await timers.clock.expire(.milliseconds(20))
        await eventually { cancelled.withLock { $0 == 2 } }
        #expect(timers.fired.count == 2)
        await timers.host.stop()
    }

    @Test func `a cancelled timer fires no more, and its name is free`() async throws {
        let held = Mutex<(timer: ComponentTimer, tasks: ComponentTasks)?>(nil)
        let timers = try await TimerHost(
            .gated,
            CounterScript(edition: 1) { tasks, events in
                let timer = try tasks.every(.seconds(10), name: "tick") { _ in events.note("fired") }
                held.withLock { $0 = (timer, tasks) }
            })
        try await timers.clock.run(for: .seconds(20))
        let (timer, tasks) = try #require(held.withLock { $0 })
        timer.cancel()
        try await timers.clock.run(for: .seconds(100))
        #expect(timers.fired.count == 2)
        #expect(await timers.statistics == [])
        let events = timers.events
        try tasks.after(.seconds(1), name: "tick") { _ in events.note("fired again") }
        timer.cancel()
        try await timers.clock.run(for: .seconds(1))
        #expect(timers.fired.last == "fired again", "a timer that has ended is left alone")
        await timers.host.stop()
        let late = error { try tasks.after(.seconds(1)) { _ in } }
        #expect(late?.code == .callRetired)
    }

    @Test func `wrong timers are refused with what is wrong`() async throws {
        let refusals = Mutex<[String]>([])
        let timers = try await TimerHost(
            .gated,
            CounterScript(edition: 1) { tasks, _ in
                func note(_ body: () throws(BackplaneError) -> Void) {
                    do { try body() } catch { refusals.withLock { $0.append("\(error.code): \(error.message)") } }
                }
                note { () throws(BackplaneError) in try tasks.every(.zero) { _ in } }
                note { () throws(BackplaneError) in try tasks.every(.microseconds(10)) { _ in } }
                note { () throws(BackplaneError) in try tasks.every(.seconds(1), jitter: .seconds(2)) { _ in } }
                note { () throws(BackplaneError) in try tasks.after(.seconds(-1)) { _ in } }
                note { () throws(BackplaneError) in try tasks.after(.seconds(Int64.max)) { _ in } }
                note { () throws(BackplaneError) in try tasks.after(.seconds(1), limit: .zero) { _ in } }
                note { () throws(BackplaneError) in
                    try tasks.after(.seconds(1), name: String(repeating: "é", count: 65)) { _ in }
                }
                try tasks.after(.seconds(1), name: "tea") { _ in }
                note { () throws(BackplaneError) in try tasks.after(.seconds(1), name: "tea") { _ in } }
            })
        #expect(
            refusals.withLock { $0 } == [
                "timer.refused: a timer's period must be at least 1 ms, but is 0.0 seconds",
                "timer.refused: a timer without a name: the period must be at least 1 ms, but is 1e-05 seconds",
                "timer.refused: a timer without a name: the jitter of 2.0 seconds is longer than the period of 1.0 seconds",
                "timer.refused: a timer without a name: the delay must be from 0 to ten years, but is -1.0 seconds",
                "timer.refused: a timer without a name: the delay must be from 0 to ten years, but is 9223372036.854776 seconds",
                "timer.refused: a timer's limit must be positive, but is 0.0 seconds",
                "timer.refused: the timer's name has 130 bytes; at most 128 are allowed",
                "timer.refused: Counter already has a timer `tea`; cancel that one first, or choose another name",
            ])
        await timers.host.stop()
    }

    @Test func `ten thousand timers of one component work, and there are no more`() async throws {
        let fired = Atomic<Int>(0), refusal = Mutex<BackplaneError?>(nil)
        let timers = try await TimerHost(
            .ungated,
            CounterScript(edition: 1) { tasks, _ in
                for number in 0..<ComponentTimers.limit {
                    try tasks.every(.milliseconds(1_000 + number % 100), name: "\(number)") { _ in
                        fired.wrappingAdd(1, ordering: .relaxed)
                    }
                }
                do throws(BackplaneError) { try tasks.after(.seconds(1)) { _ in } } catch {
                    refusal.withLock { $0 = error }
                }
            })
        #expect(refusal.withLock { $0 }?.code == .timerRefused)
        #expect(refusal.withLock { $0 }?.message.contains("already has 10000 timers") == true)
        try await timers.clock.run(for: .milliseconds(1_100))
        #expect(fired.load(ordering: .relaxed) == 10_000)
        let row = try #require(await timers.host.statistics.first { $0.component == "Worker" })
        #expect(row.timers.count == ComponentStatistics.timersShown && row.timerCount == 10_000)
        await timers.host.stop()
    }

    @Test func `a stop waits for a body, and calls it off when it does not end`() async throws {
        let cancelled = Atomic<Bool>(false), (begun, begins) = AsyncStream<Void>.makeStream()
        let script = CounterScript(edition: 1) { tasks, _ in
            try tasks.every(.seconds(10), name: "endless") { _ in
                begins.yield()
                try? await Task.sleep(for: .seconds(3_600))
                cancelled.store(true, ordering: .relaxed)
            }
        }
        let counters = try CounterHost(script: script, stopLimit: .milliseconds(30))
        try await counters.host.start()
        counters.test.clock.advance(by: .seconds(10))
        for await _ in begun { break }
        try await counters.test.expiring(.milliseconds(30), .milliseconds(30)) { await counters.host.stop() }
        await eventually { cancelled.load(ordering: .relaxed) }
        let line = try #require(counters.test.log.records.first { $0.message.hasPrefix("not stopped") })
        #expect(line.metadata["timers"] == "endless", "\(line)")
        #expect(counters.counters["Counter"]?.all.contains("stop 1") == false)
    }
}

/// The error that a synchronous function throws.
private func error(_ body: () throws -> some Sendable) -> BackplaneError? {
    #expect(throws: BackplaneError.self) { _ = try body() }
}
