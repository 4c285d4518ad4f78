import BackplaneTestKit
import Dispatch
import TestFixtures
import Testing

@testable import BackplaneHost

/// Work that enters plugins, some of which takes long or does not return.
@Suite(.timeLimit(.minutes(2)))
struct PluginWorkTests {
    private let clock = TestClock()

    @Test func `work begins in order, and more of it beside what does not return`() async throws {
        let work = PluginWork(threads: 1), ends = Recording<String>(), release = DispatchSemaphore(value: 0)
        for number in 0..<40 {
            work.begin(by: clock.polls) {
                ends.add("\(number)")
                release.wait()
            }
        }
        _ = try await ends.first(40)
        #expect(ends.all.first == "0")
        for _ in 0..<40 { release.signal() }
    }

    @Test func `what follows the ends of streams waits for all of them`() async throws {
        let ends = Recording<String>(), release = DispatchSemaphore(value: 0)
        let slow: @Sendable () -> Void = {
            release.wait()  // meanwhile another thread ends the next one
            ends.add("end")
        }
        PluginWork.end(Array(repeating: slow, count: 10), by: clock, then: { ends.add("last") })
        for _ in 0..<9 { release.signal() }
        _ = try await ends.first(9)
        release.signal()
        try await ends.until { $0.contains("last") }
        #expect(ends.all == Array(repeating: "end", count: 10) + ["last"])
        await eventually { clock.pending == 0 }
    }

    @Test func `it does not wait for one that is stuck`() async throws {
        let ends = Recording<String>(), release = DispatchSemaphore(value: 0)
        let stuck: @Sendable () -> Void = {
            release.wait()
            ends.add("stuck")
        }
        PluginWork.end([stuck], by: clock, then: { ends.add("last") })
        try await clock.expire(PluginWork.endLimit)
        #expect(ends.all == ["last"])
        release.signal()
        try await ends.until { $0.last == "stuck" }
    }
}
