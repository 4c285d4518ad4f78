import Testing

@testable import BackplaneHost

/// When a pool counts as occupied: decided from times alone.
struct PoolWatchTests {
    private let limit = Duration.seconds(1)

    private func actions(_ watch: inout PoolWatch, after elapsed: Duration = .milliseconds(250), begun: Set<Int>)
        -> [PoolWatch.Action]
    {
        watch.look(after: elapsed) { begun.contains($0) }
    }

    @Test func `every pool has one job, and gets the next when that has begun`() {
        var watch = PoolWatch(limit: limit, pools: 3)
        #expect(actions(&watch, begun: []) == [.send(0), .send(1), .send(2)])
        #expect(actions(&watch, begun: []) == [])
        #expect(actions(&watch, begun: [1]) == [.send(1)])
        #expect(actions(&watch, begun: [0, 1, 2]) == [.send(0), .send(1), .send(2)])
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

    @Test func `what was never reported is never over`() {
        var watch = PoolWatch(limit: limit, pools: 1)
        for _ in 0..<4 { _ = actions(&watch, begun: []) }
        #expect(actions(&watch, begun: [0]) == [.send(0)])
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
