import Backplane
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneOperations

/// Cancelling, pausing and resuming nodes, parts of a graph and whole graphs.
@Suite(.timeLimit(.minutes(2)))
struct ControlTests {
    /// Work that stands still while it is paused.
    final class Transfer: SuspendableOperation {
        let log: Recording<String>
        let gate = TestGate()

        init(_ log: Recording<String>) { self.log = log }

        func run(_ status: inout NodeStatus) async throws -> Int {
            log.add("run")
            try await gate.pass()
            return 7
        }

        func pause() async { log.add("pause") }

        func resume() async { log.add("resume") }
    }

    @Test func `a node that is cancelled is told so, and its dependents name it`() async throws {
        let gate = TestGate(), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") {
            do { try await gate.pass() } catch { log.add("\(type(of: error))") }
        }
        graph.onFailure(of: books) { error, _ in log.add(error.code.rawValue) }
        let stored = graph.add("stored", after: books) {}
        let other = graph.add("other") { 5 }
        let finish = graph.add("finish", after: stored.always, other) { _, other in other }
        let run = try graph.build(returning: finish).start()
        try await gate.arrivals()
        try run.cancel(.node(books))
        #expect(try await run.value == 5)
        await run.drained()
        #expect(Set(log.all) == ["CancellationError", "call.cancelled"])
        guard case .failure(let error) = try await run.outcome(of: stored) else { return #expect(Bool(false)) }
        #expect(error.code == .operationUnsatisfied)
        #expect(error.message == "`stored` was not run, because it needs `books`: `books` was cancelled")
        #expect(error.causes.map(\.code) == [.callCancelled])
    }

    @Test func `cancelling everything lets finish nodes run`() async throws {
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await gate.pass() }
        let stored = graph.add("stored", after: books) {}
        let finish = graph.add("finish", after: books.always, stored.always) {
            [$0, $1].map { (try? $0.get()) == nil }
        }
        let run = try graph.build(returning: finish).start()
        try await gate.arrivals()
        run.pause()
        run.cancel()
        #expect(try await run.value == [true, true])
        #expect(await run.lastStates == ["books": .cancelled, "stored": .cancelled, "finish": .succeeded])
    }

    @Test func `a handler may cancel the node and the graph`() async throws {
        let log = Recording<String>(), runs = Mutex<GraphRun<Void>?>(nil), isReady = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { () throws -> Void in
            try await isReady.pass()
            throw Unavailable()
        }
        graph.onFailure(of: books) { error, _ in
            log.add(error.message)
            runs.withLock { $0 }?.cancel()
        }
        let stored = graph.add("stored", after: books) {}
        graph.onFailure(of: stored) { error, _ in log.add(error.code.rawValue) }
        let run = try graph.build(returning: stored).start()
        runs.withLock { $0 = run }
        isReady.open()
        await #expect(throws: BackplaneError.self) { try await run.value }
        #expect(log.all == ["the shelf is unavailable", "call.cancelled"])
        runs.withLock { $0 = nil }
    }

    @Test func `a waiting node that is paused is held`() async throws {
        let gate = TestGate(), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await gate.pass() }
        let stored = graph.add("stored", after: books) { log.add("stored") }
        let other = graph.add("other", after: books) { log.add("other") }
        _ = other
        let run = try graph.build().start()
        try await gate.arrivals()
        try run.pause(.node(stored))
        #expect(try run.state(of: stored) == .paused && run.state(of: books) == .running)
        gate.open()
        await run.reached(.succeeded, "other")
        #expect(try run.state(of: stored) == .paused && log.all == ["other"])
        try run.resume(.node(stored))
        try await run.value
        #expect(log.all == ["other", "stored"])
    }

    @Test func `a running node that is paused ends, and its result is held back`() async throws {
        let gate = TestGate(), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { try await gate.pass() }
        graph.onSuccess(of: books) { _, _ in log.add("books") }
        let stored = graph.add("stored", after: books) { log.add("stored") }
        let run = try graph.build(returning: stored).start()
        try await gate.arrivals()
        try run.pause(.node(books))
        #expect(try run.state(of: books) == .pausing)
        gate.open()
        await run.reached(.paused, "books")
        #expect(try run.state(of: stored) == .waiting && log.all.isEmpty)
        run.resume()
        try await run.value
        #expect(log.all == ["books", "stored"])
    }

    @Test func `work that can be suspended is, and gives its place to others`() async throws {
        let log = Recording<String>(), transfer = Transfer(log)
        var graph = GraphBuilder("shelf")
        let upload = graph.addSuspendable("upload") { transfer }
        let other = graph.add("other") { log.add("other") }
        graph.order(other, after: graph.add("before other") {})
        let both = graph.add("both", after: upload, other) { upload, _ in upload }
        let run = try graph.build(returning: both).start(width: 1)
        try await transfer.gate.arrivals()
        try run.pause(.node(upload))
        await run.reached(.succeeded, "other")
        #expect(try run.state(of: upload) == .paused)
        try run.resume(.node(upload))
        _ = try await log.first { $0 == "resume" }
        #expect(try run.state(of: upload) == .running)
        transfer.gate.open()
        #expect(try await run.value == 7)
        #expect(log.all.filter { $0 != "other" } == ["run", "pause", "resume"])
    }

    @Test func `work that is paused while it is made is told so before it runs`() async throws {
        let log = Recording<String>(), transfer = Transfer(log), making = TestGate()
        var graph = GraphBuilder("shelf")
        let upload = graph.addSuspendable("upload") {
            try await making.pass()
            return transfer
        }
        let run = try graph.build(returning: upload).start()
        try await making.arrivals()
        run.pause()
        making.open()
        await run.reached(.paused, "upload")
        run.resume()
        transfer.gate.open()
        #expect(try await run.value == 7)
        #expect(log.all == ["pause", "resume", "run"])
    }

    @Test func `a task that is cancelled cancels the graph whose value it waits for, but not one whose outcome`()
        async throws
    {
        for ownsGraph in [true, false] {
            let gate = TestGate()
            var graph = GraphBuilder("shelf")
            let books = graph.add("books") { try await gate.pass() }
            let run = try graph.build(returning: books).start()
            try await gate.arrivals()
            let reader = Task { ownsGraph ? try await run.value : try await run.outcome.get() }
            reader.cancel()
            if ownsGraph {
                await run.reached(.cancelled, "books")
                await #expect(throws: BackplaneError.self) { try await reader.value }
            } else {
                #expect(try run.state(of: books) == .running)
                gate.open()
                try await reader.value
            }
        }
    }

    @Test func `a paused transfer can be cancelled`() async throws {
        let log = Recording<String>(), transfer = Transfer(log)
        var graph = GraphBuilder("shelf")
        let upload = graph.addSuspendable("upload") { transfer }
        let run = try graph.build(returning: upload).start()
        try await transfer.gate.arrivals()
        run.pause()
        await run.reached(.paused, "upload")
        run.cancel()
        let error = await #expect(throws: BackplaneError.self) { try await run.value }
        #expect(error?.code == .callCancelled)
        await run.drained()
    }

    @Test func `a part of a graph is chosen by a node`() async throws {
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        let signIn = graph.add("sign in") { try await gate.pass() }
        let books = graph.add("books", after: signIn) {}
        let covers = graph.add("covers", after: books) {}
        let authors = graph.add("authors", after: signIn) {}
        let run = try graph.build().start()
        try run.pause(.needs(of: books))
        #expect(try run.state(of: covers) == .waiting && run.state(of: books) == .paused)
        try run.resume(.needs(of: books))
        try run.pause(.dependents(of: books))
        #expect(try run.state(of: covers) == .paused && run.state(of: authors) == .waiting)
        try run.cancel(.dependents(of: books))
        gate.open()
        await #expect(throws: BackplaneError.self) { try await run.value }
        let states = await run.lastStates
        #expect(states["books"] == .cancelled && states["covers"] == .cancelled && states["authors"] == .succeeded)
    }
}

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
