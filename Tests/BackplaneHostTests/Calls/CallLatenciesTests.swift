import Backplane
import BackplaneTestKit
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
