import Backplane
import BackplaneTestKit
import Synchronization
import Testing

@testable import BackplaneHost

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

    @Test func `those with calls in flight are candidates, the longest first`() {
        var candidates = PoolCandidates()
        #expect(look(&candidates, after: 0, books: 0, clock: 0) == [])
        _ = look(&candidates, after: 1, books: 0, clock: 3)
        let found = look(&candidates, after: 2, books: 1, clock: 2)
        #expect(found.map(\.name) == ["Clock", "Books"])
        #expect(found.map(\.calls) == [2, 1])
        #expect(found.map { $0.since - start } == [.seconds(1), .seconds(2)])
    }

    @Test func `one that was without calls at any look has calls since a later one`() {
        var candidates = PoolCandidates()
        _ = look(&candidates, after: 1, books: 2, clock: 2)
        _ = look(&candidates, after: 2, books: 2, clock: 0)
        let found = look(&candidates, after: 3, books: 2, clock: 2)
        #expect(found.map(\.name) == ["Books", "Clock"])
        #expect(found.map { $0.since - start } == [.seconds(1), .seconds(3)])
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
