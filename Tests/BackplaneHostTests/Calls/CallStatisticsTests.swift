import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// The times of encoded calls, as `stats` shows them.
struct CallLatenciesTests {
    @Test func `every time has a class, in order and at most a quarter wide`() {
        var last = -1
        let edges = (0..<63).flatMap { shift in
            [UInt64(1) << shift, (UInt64(1) << shift) + 1, (UInt64(1) << shift) * 2 - 1]
        }
        for time in Set(edges + [0, .max]).sorted() {
            let place = CallLatencies.place(of: time), end = CallLatencies.end(of: place)
            #expect(place >= last && time <= end, "\(time)")
            #expect(end - time <= time / 4, "\(time) is counted as up to \(end)")
            if place > 0 { #expect(CallLatencies.end(of: place - 1) < time) }
            last = place
        }
    }

    @Test func `median and percentile are the ends of their classes, and never above the longest`() throws {
        var latencies = CallLatencies()
        #expect(latencies.statistics == nil)
        for _ in 0..<98 { latencies.add(.microseconds(100)) }
        latencies.add(.milliseconds(3))
        latencies.add(.milliseconds(50))
        let found = try #require(latencies.statistics)
        #expect(found.calls == 100 && found.longest == .milliseconds(50))
        #expect(found.median >= .microseconds(100) && found.median <= .microseconds(125))
        #expect(found.percentile99 >= .milliseconds(3) && found.percentile99 <= .milliseconds(4))
        var one = CallLatencies()
        one.add(.milliseconds(7))
        #expect(one.statistics?.median == .milliseconds(7))
    }

    @Test func `an instance that has ended has no account, because what its calls lead to stays for ever`() async throws
    {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"First": {"className": "ReportingManager"}}}"#,
            plugins: [ReportingPlugin.self])
        let component = try await test.host.coordinator.running("First")
        _ = await error { try await test.call("First", "missing") }
        _ = try await test.call("First", "reports")
        #expect(component.calls.latency?.calls == 1)
        try await test.host.reset("First")
        await eventually { component.calls.latency == nil }
        _ = try await test.call("First", "reports")
        #expect(try await test.host.coordinator.running("First").calls.latency?.calls == 1)
        await test.host.stop()
    }

    @Test func `numbers of calls neither repeat nor follow one another`() {
        let numbers = (0..<10_000).map { _ in Callbacks.newID() }
        #expect(Set(numbers).count == numbers.count)
        let distances = Set(zip(numbers, numbers.dropFirst()).map { $1 &- $0 })
        #expect(distances.count == numbers.count - 1, "no distance between two tells that of the next")
    }

    @Test func `the last error is kept, a huge one by its size only`() {
        var account = CallAccount()
        account.note(failure: EncodedAnswer(BackplaneError(.componentFailed, "first")))
        account.note(failure: EncodedAnswer(BackplaneError(.callDeadline, "second")))
        #expect(account.lastFailure?.statistics.error == BackplaneError(.callDeadline, "second"))
        account.note(failure: EncodedAnswer(BackplaneError(.componentFailed, String(repeating: "x", count: 1 << 20))))
        #expect(account.lastFailure?.statistics.error.message.utf8.count ?? .max < 100)
    }
}

/// The trace of a call on its way through components, and in what they log.
@Suite(.timeLimit(.minutes(5)))
struct CallTraceTests {
    private struct Echoing: Contract {
        static let name = "Echo"
        static let version: Version = "1.0.0"
        /// The trace that arrives, after it was logged.
        let trace = AsyncMethod<Nothing, String>()
        /// The trace of a call that the component begins.
        let own = AsyncMethod<String?, String>()
    }

    private final class EchoManager: Manager {
        typealias Provides = Echoing
        static let className = "EchoManager"
        struct Wires: Wiring {
            let next: Wire<Echoing>?
        }
        private let context: Context

        init(_ context: Context) { self.context = context }

        static func methods(_ table: inout Methods) {
            table.async(\.trace) { echo, _, call in
                echo.context.log.notice("asked", metadata: ["trace": "its own"], for: call)
                echo.context.log.notice("untraced")
                return try await echo.context.wires.next?.trace(call) ?? call.trace?.traceparent ?? "none"
            }
            table.async(\.own) { echo, parent, _ in
                echo.context.begin(traceparent: parent).trace?.traceparent ?? "none"
            }
        }
    }

    private func with(_ lanes: LaneRule, _ body: (TestHost, Remote<Echoing>) async throws -> Void) async throws {
        let test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {
                "Last": {"className": "EchoManager"}, "First": {"className": "EchoManager", "uses": {"next": "Last"}}
            }}
            """,
            linked: [LinkedPlugin(id: "org.backplane.tests.echo", version: "1.0.0") { $0.add(EchoManager.self) }],
            lanes: lanes)
        do {
            try await body(test, try await test.host.manager("First"))
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `it is the same everywhere, and in what is logged for the call`(lanes: LaneRule) async throws {
        try await with(lanes) { test, echo in
            let call = test.host.begin(), id = try #require(call.trace?.id)
            let arrived = try await echo.trace(call)
            #expect(arrived == call.trace?.traceparent)
            let asked = test.log.records.filter { $0.message == "asked" }
            #expect(asked.map(\.source) == ["First", "Last"])
            #expect(asked.allSatisfy { $0.metadata == ["trace": id] })
            #expect(test.log.records.filter { $0.message == "untraced" }.allSatisfy { $0.metadata.isEmpty })
        }
    }

    @Test func `one that another program has begun is continued, by the host and by components`() async throws {
        try await with(.fastest) { test, echo in
            let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let continued = try await echo.trace(test.host.begin(traceparent: parent))
            #expect(continued == parent)
            let own = try await echo.own(parent)
            #expect(own == parent)
            let new = try await echo.own(nil)
            #expect(Trace(traceparent: new) != nil && new != parent)
            let malformed = try await echo.own("rubbish")
            #expect(Trace(traceparent: malformed) != nil)
            let none = try await echo.trace()
            #expect(none == "none")
        }
    }
}

/// The system's clock, whose thread is woken only for what concerns it.
@Suite(.timeLimit(.minutes(1)))
struct SystemClockTests {
    private let farAway = Duration.seconds(3_600)

    private func schedule(_ id: UInt64, after delay: Duration, on clock: SystemClock, _ runs: Recording<UInt64>) {
        clock.schedule(id, at: clock.moment + delay) { runs.add(id) }
    }

    @Test func `a time before the one that the thread waits for is met`() async throws {
        let clock = SystemClock(), runs = Recording<UInt64>()
        defer {
            clock.cancel(1)
            clock.retire()
        }
        schedule(1, after: farAway, on: clock, runs)
        schedule(2, after: .milliseconds(20), on: clock, runs)
        schedule(3, after: farAway * 2, on: clock, runs)
        try await runs.until { $0 == [2] }
        schedule(4, after: .milliseconds(1), on: clock, runs)
        try await runs.until { $0 == [2, 4] }
        clock.cancel(3)
    }

    @Test func `an action that is scheduled again runs only at its last time`() async throws {
        let clock = SystemClock(), runs = Recording<UInt64>()
        defer { clock.retire() }
        schedule(1, after: farAway, on: clock, runs)
        schedule(1, after: .milliseconds(1), on: clock, runs)
        try await runs.until { $0 == [1] }
        clock.endPause(1)
        #expect(runs.all == [1], "nothing is left of the earlier time")
    }

    @Test func `the thread of a retired clock ends with the last cancellation`() async throws {
        weak var ended: SystemClock?
        do {
            let clock = SystemClock(), runs = Recording<UInt64>()
            ended = clock
            schedule(1, after: farAway, on: clock, runs)
            schedule(2, after: .milliseconds(5), on: clock, runs)
            try await runs.until { $0 == [2] }
            clock.retire()
            clock.cancel(1)
        }
        await eventually { ended == nil }
    }
}
