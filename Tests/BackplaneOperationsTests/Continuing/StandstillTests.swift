import Backplane
import BackplaneTestKit
import Synchronization
import Testing

@testable import BackplaneOperations

/// Graphs that stand still, and the records by which others go on with them.
@Suite(.timeLimit(.minutes(2)))
struct StandstillTests {
    /// Three nodes of which the second waits at a gate; the result is their text.
    private func graph(_ gate: TestGate, _ log: Recording<String>) throws -> OperationGraph<String> {
        var graph = GraphBuilder("three")
        let one = graph.add("one") {
            log.add("one")
            return 1
        }
        let two = graph.add("two", after: one) { one in
            try await gate.pass()
            log.add("two")
            return one + 1
        }
        let three = graph.add("three", after: one, two) { one, two in
            log.add("three")
            return "\(one) \(two) 3"
        }
        return try graph.build(returning: three)
    }

    private func run(_ gate: TestGate, _ log: Recording<String>) throws -> GraphRun<String> {
        let queue = GraphQueue()
        return queue.prepare(try graph(gate, log), GraphNaming(definition: 0, input: "null", result: 2))
    }

    /// Returns the record of a graph that stands still, once the node that waits at a gate has ended.
    private func record(of run: GraphRun<some Sendable>, once gate: TestGate) async throws -> GraphRecord {
        let still = TestGate()
        run.begin()
        try await gate.arrivals()
        run.engine.hold { _ in still.open() }
        gate.open()
        try await still.pass()
        return try #require(try run.engine.save())
    }

    @Test func `a graph stands still once its running node has ended, and goes on`() async throws {
        let gate = TestGate(), log = Recording<String>(), still = Recording<Bool>()
        let run = try run(gate, log)
        run.begin()
        try await gate.arrivals()
        run.engine.hold { still.add($0) }
        #expect(still.all == [])
        gate.open()
        #expect(try await still.first(1) == [true])
        #expect(log.all == ["one", "two"])
        #expect(run.engine.state.withLock { $0.scheduler.nodes.map(\.shown) } == [.succeeded, .succeeded, .waiting])
        run.engine.goOn()
        #expect(try await run.value == "1 2 3")
    }

    @Test func `one that goes on before it stands still says so`() async throws {
        let gate = TestGate(), still = Recording<Bool>()
        let run = try run(gate, Recording())
        run.begin()
        try await gate.arrivals()
        run.engine.hold { still.add($0) }
        run.engine.goOn()
        gate.open()
        #expect(try await run.value == "1 2 3")
        #expect(still.all == [false])
    }

    @Test func `another one goes on with the record, and whoever waits here is told`() async throws {
        let gate = TestGate(), log = Recording<String>()
        let run = try run(gate, log), record = try await record(of: run, once: gate)
        #expect(record.succeeded == [0, 2] && record.nodes.isEmpty)
        #expect(record.values == [0: "1", 1: "2"])
        let next = try self.run(gate, log)
        try next.engine.take(record)
        run.engine.leave()
        next.begin()
        #expect(try await next.value == "1 2 3")
        #expect(log.all == ["one", "two", "three"])
        #expect(await run.outcome.error?.code == .callRetired)
        run.cancel()
        #expect(log.all == ["one", "two", "three"])
    }

    @Test func `whoever asks for a node after the graph has left is told, too`() async throws {
        let gate = TestGate()
        func chain() throws -> (run: GraphRun<Int>, one: GraphNode<Int>, three: GraphNode<Int>) {
            var graph = GraphBuilder("chain")
            let one = graph.add("one") { 1 }
            let two = graph.add("two", after: one) { one in
                try await gate.pass()
                return one + 1
            }
            let three = graph.add("three", after: two) { $0 + 1 }
            let naming = GraphNaming(definition: 0, input: "null", result: 2)
            return (GraphQueue().prepare(try graph.build(returning: three), naming), one, three)
        }
        let (run, _, three) = try chain(), (next, one, _) = try chain()
        let record = try await record(of: run, once: gate)
        run.engine.leave()
        #expect(try await run.outcome(of: three).error?.code == .callRetired)
        // The value of a node that nobody needs any longer is not saved.
        #expect(record.values == [1: "2"])
        try next.engine.take(record)
        next.begin()
        #expect(try await next.value == 3)
        let outcome = try await next.outcome(of: one)
        #expect(outcome.error?.code == .callRetired && outcome.error?.message.contains("not ended") == false)
    }

    @Test func `failed, cancelled and delayed nodes cross as they are`() async throws {
        func run(_ attempts: Recording<String>) throws -> GraphRun<String> {
            var graph = GraphBuilder("mixed")
            let failing = graph.add("failing") { () throws -> Int in throw Unavailable() }
            let cancelled = graph.add("cancelled") { try await TestGate().pass() }
            let unmet = graph.add("unmet", after: failing) { $0 }
            let tried = graph.add("tried", options: Self.hourly) { () throws -> Int in
                attempts.add("try")
                throw Unavailable()
            }
            let last = graph.add("last", after: unmet.always, cancelled.always.and(tried.always)) { unmet, others in
                "\(unmet.error?.code.rawValue ?? ""), \(others.0.error?.code.rawValue ?? "")"
            }
            return GraphQueue().prepare(
                try graph.build(returning: last), GraphNaming(definition: 0, input: "null", result: 4))
        }
        let attempts = Recording<String>(), run = try run(attempts)
        run.begin()
        _ = try await attempts.first(1)
        await run.reached(.failed, "unmet")
        run.engine.change { $0.cancel([1], &$1) }
        let still = TestGate()
        run.engine.hold { _ in still.open() }
        try await still.pass()
        let record = try #require(try run.engine.save())
        let json = try JSON.encode(record, failing: .operationRefused)
        let next = try self.retried(attempts)
        try next.engine.take(try JSON.decode(GraphRecord.self, json, failing: .operationChanged))
        let states = next.engine.state.withLock { $0.scheduler.nodes.map(\.shown) }
        #expect(states == [.failed, .cancelled, .failed, .waiting, .waiting])
        next.begin()
        next.engine.change { $0.due(3, after: 1, &$1) }
        #expect(try await next.value == "operation.unsatisfied, call.cancelled")
        #expect(attempts.all == ["try", "second"])
    }

    private static let hourly = NodeOptions(
        retry: NodeRetry(attempts: 2, base: .seconds(3_600), limit: .seconds(3_600)))

    /// The graph of the test above, in newer code.
    private func retried(_ attempts: Recording<String>) throws -> GraphRun<String> {
        var graph = GraphBuilder("mixed")
        let failing = graph.add("failing") { 1 }
        let cancelled = graph.add("cancelled") {}
        let unmet = graph.add("unmet", after: failing) { $0 }
        let tried = graph.add("tried", options: Self.hourly) {
            attempts.add("second")
            return 2
        }
        let last = graph.add("last", after: unmet.always, cancelled.always.and(tried.always)) { unmet, others in
            "\(unmet.error?.code.rawValue ?? ""), \(others.0.error?.code.rawValue ?? "")"
        }
        return GraphQueue().prepare(
            try graph.build(returning: last), GraphNaming(definition: 0, input: "null", result: 4))
    }

    // MARK: Changes

    @Test func `what has changed is named`() {
        func record(_ names: [String], _ edges: [Int32]) -> GraphRecord {
            GraphRecord(input: "", names: names, edges: edges, succeeded: [], nodes: [:], values: [:])
        }
        let old = record(["a", "b", "c"], [0, 1, 0, 1, 2, 0])
        #expect(old.differences(from: ["a", "b", "c"], [0, 1, 0, 1, 2, 0]) == [])
        #expect(old.differences(from: ["a", "b"], [0, 1, 0]) == ["the node `c` is missing"])
        #expect(
            old.differences(from: ["a", "b", "d"], [0, 1, 0]) == ["the node `c` is missing", "the node `d` is new"])
        #expect(old.differences(from: ["b", "a", "c"], [0, 1, 0]) == ["its nodes are in a different order"])
        #expect(old.differences(from: ["a", "b", "c", "c"], []) == ["it has 4 nodes instead of 3"])
        #expect(
            old.differences(from: ["a", "b", "c"], [0, 1, 0, 0, 2, 1]) == [
                "`c` waits for `a` whatever its outcome (`always`), and did not",
                "`c` waits for `b`, and no longer does",
            ])
    }

    @Test func `a result of another type fails with its node, and changes nothing`() async throws {
        let gate = TestGate(isOpen: true), run = try run(gate, Recording())
        run.engine.hold { _ in }
        let edges = GraphRecord.edges(of: run.engine.state.withLock(\.scheduler).shape)
        let record = GraphRecord(
            input: "null", names: ["one", "two", "three"], edges: edges, succeeded: [0, 1], nodes: [:],
            values: [0: "\"one\""])
        let error = #expect(throws: BackplaneError.self) { try run.engine.take(record) }
        #expect(error?.code == .operationChanged)
        #expect(error?.message.contains("the result of `one` cannot be read") == true, "\(String(describing: error))")
        run.engine.goOn()
        run.begin()
        #expect(try await run.value == "1 2 3")
    }

    // MARK: Definitions

    @Test func `one graph of a name runs at a time`() async throws {
        let gate = TestGate(), queue = GraphQueue()
        let kind = try queue.define("waiting") { (number: Int) in
            var graph = GraphBuilder("waiting")
            let node = graph.add("wait") {
                try await gate.pass()
                return number
            }
            return try graph.build(returning: node)
        }
        #expect(kind.run == nil)
        let run = try kind.start(1)
        let error = #expect(throws: BackplaneError.self) { try kind.start(2) }
        #expect(error?.code == .operationRefused)
        #expect(error?.message == "a graph `waiting` is already running; wait for it to end, or cancel it")
        gate.open()
        #expect(try await run.value == 1)
        #expect(try await kind.start(2).value == 2)
        #expect(try await kind.run?.value == 2)
    }

    @Test func `a result that is not Codable is refused when the graph starts, by its node`() throws {
        struct Opaque: Sendable {}
        let kind = try GraphQueue().define("opaque") {
            var graph = GraphBuilder("opaque")
            let node = graph.add("make") { Opaque() }
            let end = graph.add("end", after: node) { _ in 1 }
            return try graph.build(returning: end)
        }
        let error = #expect(throws: BackplaneError.self) { try kind.start() }
        #expect(error?.code == .operationRefused)
        #expect(error?.message.contains("the result of `make`, a `Opaque`, is not Codable") == true)
    }

    @Test func `a value that cannot be encoded is named when the graph is saved`() async throws {
        var graph = GraphBuilder("infinite")
        let endless = graph.add("endless") { Double.infinity }
        let gate = TestGate()
        let last = graph.add("last", after: endless) { value in
            try await gate.pass()
            return value
        }
        let run = GraphQueue().prepare(
            try graph.build(returning: last), GraphNaming(definition: 0, input: "null", result: 1))
        run.begin()
        try await gate.arrivals()
        let still = TestGate()
        run.engine.hold { _ in still.open() }
        gate.open()
        try await still.pass()
        let error = #expect(throws: BackplaneError.self) { try run.engine.save() }
        #expect(
            error?.message.contains("the result of `last` cannot be encoded") == true, "\(String(describing: error))")
        run.engine.goOn()
        #expect(try await run.value == .infinity)
    }

    @Test func `optional and empty results cross`() async throws {
        func run(_ isOpen: Bool, _ log: Recording<String>) throws -> (GraphRun<String>, TestGate) {
            let gate = TestGate(isOpen: isOpen)
            var graph = GraphBuilder("optional")
            let nothing = graph.add("nothing") { () -> String? in
                log.add("nothing")
                return nil
            }
            let something = graph.add("something") { () -> String? in "s" }
            let void = graph.add("void") {}
            let wait = graph.add("wait", after: void) { try await gate.pass() }
            let last = graph.add("last", after: nothing, something, wait) { nothing, something, _ in
                "\(nothing ?? "none") \(something ?? "none")"
            }
            return (
                GraphQueue().prepare(
                    try graph.build(returning: last), GraphNaming(definition: 0, input: "null", result: 4)), gate
            )
        }
        let log = Recording<String>(), (old, gate) = try run(false, log)
        old.begin()
        try await gate.arrivals()
        let still = TestGate()
        old.engine.hold { _ in still.open() }
        gate.open()
        try await still.pass()
        let (next, _) = try run(true, log)
        try next.engine.take(try #require(try old.engine.save()))
        next.begin()
        #expect(try await next.value == "none s")
        #expect(log.all == ["nothing"])
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
