import BackplaneTestKit
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(2)))
struct WaitingTests {
    @Test func `a clock stands still until it is moved`() {
        let clock = TestClock()
        let before = clock.now
        clock.advance(by: .seconds(90))
        #expect(before.duration(to: clock.now) == .seconds(90))
        #expect(clock.date == Date(timeIntervalSinceReferenceDate: 90))
        clock.advance(by: .seconds(-10))
        #expect(clock.now.offset == .seconds(90), "time does not run backwards")
        #expect(TestClock(startingAt: .distantPast).date == .distantPast)
    }

    @Test func `sleepers wake when their time has come, and no earlier`() async throws {
        let clock = TestClock()
        let woken = Recording<Int>()
        let tasks = [30, 10, 20].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                woken.add(seconds)
            }
        }
        try await clock.sleepers(3)
        clock.advance(by: .seconds(19))
        #expect(try await woken.first(1) == [10])
        try await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await woken.first(2) == [10, 20])
        clock.advance(by: .seconds(100))
        for task in tasks { try await task.value }
        #expect(woken.all == [10, 20, 30])
        #expect(clock.now.offset == .seconds(120))
    }

    @Test func `a sleeper that is cancelled wakes with that`() async throws {
        let clock = TestClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.sleepers()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func `a timer that repeats is advanced step by step`() async throws {
        let clock = TestClock()
        let ticks = Recording<Duration>()
        let timer = Task {
            while true {
                try await clock.sleep(for: .seconds(10))
                ticks.add(clock.now.offset)
            }
        }
        for _ in 1...3 {
            try await clock.sleepers()
            clock.advance(by: .seconds(10))
        }
        #expect(try await ticks.first(3) == [.seconds(10), .seconds(20), .seconds(30)])
        timer.cancel()
        await #expect(throws: CancellationError.self) { try await timer.value }
    }

    @Test func `a gate holds callers until it opens, and again when it is closed`() async throws {
        let gate = TestGate()
        let through = Recording<Int>()
        let first = Task {
            try await gate.pass()
            through.add(1)
        }
        try await gate.arrivals()
        #expect(through.all.isEmpty)
        gate.open()
        try await first.value
        try await gate.pass()
        gate.close()
        let second = Task {
            try await gate.pass()
            through.add(2)
        }
        try await gate.arrivals(3)
        #expect(through.all == [1])
        gate.open()
        try await second.value
        #expect(through.all == [1, 2])
    }

    @Test func `a waiting task can be cancelled`() async throws {
        let gate = TestGate(), recording = Recording<Int>()
        let waiting = [
            Task { try await gate.pass() }, Task { try await gate.arrivals(9) },
            Task { _ = try await recording.first(1) },
            Task { _ = try await recording.first { $0 > 1 } },
        ]
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
    }

    @Test func `a recording waits for a value, or gives the one that is there`() async throws {
        let recording = Recording<Int>()
        async let wanted = recording.first { $0 > 2 }
        for number in 1...4 { recording.add(number) }
        #expect(try await wanted == 3)
        #expect(try await recording.first(where: { $0 == 1 }) == 1)
        #expect(recording.all == [1, 2, 3, 4])
    }
}
