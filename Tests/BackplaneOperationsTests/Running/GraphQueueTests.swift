import Backplane
import BackplaneOperations
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// Queues that own several graphs, and work of other libraries.
@Suite(.timeLimit(.minutes(2)))
struct GraphQueueTests {
    private static func graph(_ name: String, _ body: @escaping @Sendable () async throws -> Void) throws
        -> OperationGraph<Void>
    {
        var graph = GraphBuilder(name)
        let node = graph.add(name, body)
        return try graph.build(returning: node)
    }

    @Test func `the graphs of a queue share its width`() async throws {
        let queue = GraphQueue(width: 2), running = Mutex((now: 0, most: 0)), gate = TestGate()
        let runs = try (0..<10).map { number in
            queue.start(
                try Self.graph("book \(number)") {
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    try await gate.pass()
                    running.withLock { $0.now -= 1 }
                })
        }
        try await gate.arrivals(2)
        gate.open()
        for run in runs { try await run.value }
        #expect(running.withLock { $0.most } == 2)
    }

    @Test func `a paused queue holds its graphs, also those that are started later`() async throws {
        let queue = GraphQueue(), log = Recording<String>(), gate = TestGate()
        let first = queue.start(
            try Self.graph("first") {
                try await gate.pass()
                log.add("first")
            })
        try await gate.arrivals()
        queue.pause()
        let second = queue.start(try Self.graph("second") { log.add("second") })
        gate.open()
        await first.reached(.paused, "first")
        await second.reached(.paused, "second")
        #expect(log.all == ["first"])
        queue.resume()
        try await first.value
        try await second.value
        #expect(log.all == ["first", "second"])
    }

    @Test func `cancelling a queue cancels its graphs, and it goes on`() async throws {
        let queue = GraphQueue(width: 1), gate = TestGate()
        let runs = try (0..<3).map { number in queue.start(try Self.graph("book \(number)") { try await gate.pass() }) }
        try await gate.arrivals()
        queue.cancel()
        for run in runs {
            let error = await #expect(throws: BackplaneError.self) { try await run.value }
            #expect(error?.code == .callCancelled)
        }
        gate.open()
        try await queue.start(try Self.graph("later") { try await gate.pass() }).value
    }

    @Test func `work runs on Foundation's queue`() async throws {
        let operations = OperationQueue()
        operations.name = "shelf"
        var graph = GraphBuilder("shelf")
        let title = graph.add("title") { "whale" }
        let found = graph.add("find", after: title, on: { operations.addOperation($0) }) { title in
            "\(title) on \(OperationQueue.current?.name ?? "no queue")"
        }
        let broken = graph.add("broken", on: { operations.addOperation($0) }) { () throws -> Void in throw Unavailable()
        }
        let report = graph.add("report", after: found, broken.always) { found, broken in (found, broken) }
        let (text, outcome) = try await graph.build(returning: report).start().value
        #expect(text == "whale on shelf")
        guard case .failure(let error) = outcome else { return #expect(Bool(false)) }
        #expect(error.message == "the shelf is unavailable")
    }

    @Test func `an operation of Foundation is a node, and a block that is dropped fails its node`() async throws {
        let operations = OperationQueue(), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let indexed = graph.add("index") {
            let operation = BlockOperation { log.add("index") }
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                operations.addOperation(operation)
            }
            return log.all.count
        }
        let dropped = graph.add("dropped", after: indexed, on: { _ in }) { $0 }
        graph.onFailure(of: dropped) { error, _ in log.add(error.code.rawValue) }
        let end = graph.add("end", after: dropped.always, indexed) { _, indexed in indexed }
        let run = try graph.build(returning: end).start()
        #expect(try await run.value == 1)
        #expect(log.all == ["index", "operation.abandoned"])
    }
}
