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

    @Test func `one component has ten thousand timers at most, of which a hundred are shown`() async throws {
        let refusal = Mutex<BackplaneError?>(nil)
        let timers = try await TimerHost(
            .ungated,
            CounterScript(edition: 1) { tasks, _ in
                for _ in 0..<ComponentTimers.limit { try tasks.every(.seconds(60)) { _ in } }
                do throws(BackplaneError) { try tasks.after(.seconds(1)) { _ in } } catch {
                    refusal.withLock { $0 = error }
                }
            })
        #expect(refusal.withLock { $0 }?.code == .timerRefused)
        #expect(refusal.withLock { $0 }?.message.contains("already has 10000 timers") == true)
        let row = try #require(await timers.host.statistics.first { $0.component == "Worker" })
        #expect(row.timers.count == ComponentStatistics.timersShown && row.timerCount == ComponentTimers.limit)
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

/// A host with one component, with or without a gate, whose timers go by a clock that the test advances.
struct TimerHost {
    /// The component, and how it is swapped.
    enum Kind: CaseIterable, Sendable {
        /// A component with state, whose calls wait during a swap.
        case gated
        /// A component that is swapped without anybody waiting.
        case ungated
    }
    let kind: Kind
    let counters: CounterHost
    let events: CounterEvents
    var clock: TestClock { counters.test.clock }
    var host: PluginHost { counters.host }
    var log: TestLog { counters.test.log }
    var name: String { kind == .gated ? "Counter" : "Worker" }

    init(_ kind: Kind, _ script: CounterScript, options change: (inout HostOptions) -> Void = { _ in }) async throws {
        self.kind = kind
        let worker = CounterEvents(script)
        counters = try CounterHost(
            kind == .gated ? ["Counter"] : [], script: script,
            others: kind == .gated ? [:] : ["Worker": WorkerPlugin.manager("Worker", worker)],
            linked: [WorkerPlugin.edition()], options: change)
        events = counters.counters["Counter"] ?? worker
        try await counters.host.start()
    }

    /// Swaps the component for another edition, which does this.
    @discardableResult
    func swap(_ script: CounterScript, _ options: ChangeOptions = .patient)
        async throws(BackplaneError) -> ChangeReport
    {
        events.next(script)
        let version = Version(script.edition)
        return try await counters.swap(
            linked: [kind == .gated ? CounterHost.edition(version) : WorkerPlugin.edition(version)], options)
    }

    /// The lines of timers among the events.
    var fired: [String] { events.all.filter { $0.hasPrefix("fired") } }

    var statistics: [TimerStatistics] {
        get async { await host.statistics.first { $0.component == name }?.timers ?? [] }
    }
}

extension CounterScript {
    /// A script whose component notes that one timer has fired, with its edition.
    static func ticking(
        _ edition: Int = 1, every period: Duration = .seconds(30), jitter: Duration = .zero, named name: String? = nil
    ) -> CounterScript {
        CounterScript(edition: edition) { tasks, events in
            try tasks.every(period, jitter: jitter, name: name) { _ in events.note("fired \(edition)") }
        }
    }

    init(edition: Int, timers: @escaping @Sendable (ComponentTasks, CounterEvents) throws -> Void) {
        self.init()
        (self.edition, self.timers) = (edition, timers)
    }
}

/// When a timer is due, as a function of what happened.
struct TimerTimingTests {
    private func at(_ nanoseconds: Int64) -> Deadline { Deadline(nanoseconds: nanoseconds) }

    @Test func `a timer begins once`() {
        var timing = TimerTiming(delay: 30, period: 30)
        #expect(timing.next == nil)
        timing.begin(at: at(100))
        #expect(timing.next == at(130))
        timing.begin(at: at(500))
        #expect(timing.next == at(130))
    }

    @Test(arguments: [(129, 130), (130, 160), (131, 160), (159, 160), (160, 190), (1_000, 1_030), (1_030, 1_060)])
    func `times that have passed are skipped, and the period is not shifted`(now: Int64, next: Int64) {
        var timing = TimerTiming(delay: 30, period: 30)
        timing.begin(at: at(100))
        timing.pass(at(now))
        #expect(timing.next == at(next))
    }

    @Test func `a timer that does not repeat has one time`() {
        var timing = TimerTiming(delay: 30, period: 0)
        timing.begin(at: at(100))
        timing.pass(at(129))
        #expect(timing.next == at(130))
        timing.pass(at(130))
        #expect(timing.next == nil)
        timing.begin(at: at(200))
        #expect(timing.next == nil)
    }

    /// The old one's last time was 100, its next is 130, and it is 110.
    @Test(arguments: [(30, 130), (20, 120), (50, 150), (5, 110), (1_000, 1_100)] as [(Int64, Int64)])
    func `the new timer is due one period after the old one's last time`(period: Int64, next: Int64) {
        var old = TimerTiming(delay: 30, period: 30)
        old.begin(at: at(70))
        old.pass(at(100))
        var new = TimerTiming(delay: period, period: period)
        let continues = new.continue(old, at: at(110))
        #expect(continues)
        #expect(new.next == at(next))
        new.begin(at: at(110))
        #expect(new.next == at(next))
    }

    @Test func `a timer that is due stays due`() {
        var old = TimerTiming(delay: 30, period: 30)
        old.begin(at: at(100))
        var new = TimerTiming(delay: 30, period: 30)
        let continues = new.continue(old, at: at(400))
        #expect(continues)
        #expect(new.next == at(130), "it was held back, and is made up for")
    }

    @Test func `a timer of another kind, or one that is over, is not continued`() {
        var once = TimerTiming(delay: 30, period: 0)
        once.begin(at: at(100))
        var often = TimerTiming(delay: 30, period: 30)
        let isOnceContinued = often.continue(once, at: at(110))
        #expect(!isOnceContinued)
        #expect(often.next == nil)
        often.begin(at: at(110))
        var other = TimerTiming(delay: 5, period: 0)
        let isOftenContinued = other.continue(often, at: at(110))
        #expect(!isOftenContinued)
        once.pass(at(130))
        let isOverContinued = other.continue(once, at: at(140))
        #expect(!isOverContinued)
    }
}
