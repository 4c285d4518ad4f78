import Backplane
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// A component that keeps every thread of Swift's pool is a candidate in the log, while it does and once it is over.
@Suite(.timeLimit(.minutes(10)), .disabled(if: OccupiedPoolProgram.isSanitized, OccupiedPoolProgram.sanitized))
struct WatchdogTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test(arguments: ["spin", "block"])
    func `the component with its plugin, its library and its calls is a candidate, and it is said when it is over`(
        method: String
    ) async throws {
        // On a busy machine the pool may count as occupied before each thread of it has a call; then it is tried again.
        for _ in 0..<5 {
            let lines = try await OccupiedPoolProgram.lines(["library", method, folder.path], in: folder)
            let candidate = try #require(
                lines.first?.wholeMatch(of: /BusyLoop of (.*): (\d+) calls? for \d+\.\d s/))
            #expect(candidate.1 == "org.backplane.tests.busy-loop 1.3.0 (lib_BusyLoop.so)")
            #expect(lines.dropFirst() == ["\(PoolReport.over): \(candidate.0)"])
            let calls = try #require(Int(candidate.2))
            if calls >= ProcessInfo.processInfo.activeProcessorCount { return }
        }
        Issue.record("not every thread had a call")
    }
}

/// When a pool counts as occupied: decided from times alone.
struct PoolWatchTests {
    private let limit = Duration.seconds(1)

    private func actions(_ watch: inout PoolWatch, after elapsed: Duration = .milliseconds(250), begun: Set<Int>)
        -> [PoolWatch.Action]
    {
        watch.look(after: elapsed) { begun.contains($0) }
    }

    @Test func `a job that waits to the limit is reported, once`() {
        var watch = PoolWatch(limit: limit, pools: 2)
        _ = actions(&watch, begun: [])
        for _ in 0..<3 { #expect(actions(&watch, begun: [1]) == [.send(1)]) }
        #expect(actions(&watch, begun: [1]) == [.send(1), .report(waited: .seconds(1))])
        for _ in 0..<10 { #expect(actions(&watch, begun: [1]) == [.send(1)]) }
    }

    @Test func `it is over when the jobs of all pools have begun, and the next time is a new one`() {
        var watch = PoolWatch(limit: limit, pools: 2)
        for _ in 0..<5 { _ = actions(&watch, begun: []) }
        #expect(actions(&watch, begun: [0]) == [.send(0)])
        #expect(actions(&watch, begun: [0, 1]) == [.send(0), .send(1), .over])
        for _ in 0..<3 { #expect(actions(&watch, begun: []) == []) }
        #expect(actions(&watch, begun: []) == [.report(waited: .seconds(1))])
    }

    @Test func `time without observations does not count`() {
        var watch = PoolWatch(limit: limit, pools: 1)
        _ = actions(&watch, begun: [])
        #expect(
            actions(&watch, after: .seconds(3_600), begun: []) == [],
            "the machine was asleep, or busy with something else")
        #expect(
            actions(&watch, after: .seconds(3_600), begun: []) == [.report(waited: .seconds(1))], "but not for ever")
    }
}

/// The components that may have occupied a pool: decided from counts of calls alone.
struct PoolCandidatesTests {
    /// A component whose calls in flight a test sets.
    private final class Gauge: Sendable {
        let calls = Atomic<Int>(0)

        func component(_ name: String) -> WatchedComponent {
            WatchedComponent(
                id: ObjectIdentifier(self), name: name, plugin: "org.example.books 1.2.0 (libBooks.so)",
                callsInFlight: { self.calls.load(ordering: .relaxed) })
        }
    }
    private let start = Deadline.now
    private let books = Gauge(), clock = Gauge()
    private var components: [WatchedComponent] { [books.component("Books"), clock.component("Clock")] }

    private func look(_ candidates: inout PoolCandidates, after seconds: Int, books: Int, clock: Int) -> [PoolCandidates
        .Occupant]
    {
        self.books.calls.store(books, ordering: .relaxed)
        self.clock.calls.store(clock, ordering: .relaxed)
        return candidates.look(at: components, start + .seconds(seconds))
    }

    @Test func `the report names components, plugins, calls and since when, and says that they are candidates`() {
        var candidates = PoolCandidates()
        _ = look(&candidates, after: 0, books: 0, clock: 2)
        let report = PoolReport(look(&candidates, after: 1, books: 1, clock: 2), at: start + .milliseconds(1_500))
        let record = report.record(waited: .seconds(1))
        #expect(record.message.contains("candidates"))
        #expect(
            record.metadata == [
                "candidates":
                    "Clock of org.example.books 1.2.0 (libBooks.so): 2 calls for 1.5 s; Books of org.example.books 1.2.0 (libBooks.so): 1 call for 0.5 s",
                "waited": "1.0 s",
            ])
        #expect(report.recordOver(lasted: .seconds(2)).metadata["candidates"] == record.metadata["candidates"])
    }
}
