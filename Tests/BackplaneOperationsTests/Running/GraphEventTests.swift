import BackplaneTestKit
import Testing

@testable import BackplaneOperations

/// The events of a graph, for subscribers that are early, late or never read.
@Suite(.timeLimit(.minutes(2)))
struct GraphEventTests {
    @Test func `a subscriber gets the present states first, and then every change`() async throws {
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await gate.pass() }
        let stored = graph.add("stored", after: books) {}
        let run = try graph.build(returning: stored).start()
        try await gate.arrivals()
        var events = run.events.makeAsyncIterator()
        func next() async -> String? {
            await events.next(isolation: #isolation).map { "\($0.node) \($0.name) \($0.state)" }
        }
        #expect(await next() == "0 books running")
        #expect(await next() == "1 stored waiting")
        gate.open()
        #expect(await next() == "0 books succeeded")
        #expect(await next() == "1 stored running")
        #expect(await next() == "1 stored succeeded")
        #expect(await next() == nil)
    }

    @Test func `a subscriber of a graph that has ended gets its last states`() async throws {
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { 1 }
        let run = try graph.build(returning: books).start()
        _ = try await run.value
        var states: [NodeState] = []
        for await event in run.events { states.append(event.state) }
        #expect(states == [.succeeded])
    }

    @Test func `a subscriber that never reads holds up nobody, and reads every state later`() async throws {
        var graph = GraphBuilder("shelf")
        for number in 0..<5_000 { _ = graph.add("book \(number)") {} }
        let built = try graph.build()
        let run = GraphQueue().prepare(built)
        var idle = run.events.makeAsyncIterator()
        let first = await idle.next()
        #expect(first?.state == .waiting)
        run.engine.queue.start(run.engine)
        try await run.value
        // It reads on, and gets the last state of every node in the end.
        var states: [Int: NodeState] = [:]
        while let event = await idle.next() { states[event.node] = event.state }
        #expect(states.count == 5_001 && states.values.allSatisfy { $0 == .succeeded })
    }

    @Test func `a reader that is cancelled ends`() async throws {
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await gate.pass() }
        let run = try graph.build(returning: books).start()
        let reader = Task { for await _ in run.events {} }
        try await gate.arrivals()
        reader.cancel()
        await reader.value
        gate.open()
        try await run.value
    }
}
