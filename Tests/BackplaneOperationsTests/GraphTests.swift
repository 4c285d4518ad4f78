import Backplane
import BackplaneOperations
import BackplaneTestKit
import Testing

/// Graphs that run to their end: values, edges and handlers.
@Suite(.timeLimit(.minutes(2)))
struct GraphTests {
    @Test func `a node receives the values of the nodes that it needs`() async throws {
        var graph = GraphBuilder("shelf")
        let title = graph.add("title") { "Moby-Dick" }
        let year = graph.add("year") { 1851 }
        let line = graph.add("line", after: title, year) { title, year in "\(title), \(year)" }
        let all = graph.add("all", after: title, year, line) { title, year, line in
            [title, String(year), line]
        }
        let pairs = graph.add("pairs", after: title.and(year).and(line)) { pair, line in
            "\(pair.0) \(pair.1) \(line)"
        }
        let both = graph.add("both", afterAll: [line, pairs]) { $0.joined(separator: "; ") }
        graph.order(both, after: all)
        let run = try graph.build(returning: both).start()
        #expect(try await run.value == "Moby-Dick, 1851; Moby-Dick 1851 Moby-Dick, 1851")
        #expect(try await run.outcome(of: all).get() == ["Moby-Dick", "1851", "Moby-Dick, 1851"])
    }

    @Test func `nodes that do not need each other run at the same time`() async throws {
        let first = TestGate(), second = TestGate()
        var graph = GraphBuilder("pair")
        let books = graph.add("books") {
            first.open()
            try await second.pass()
            return 1
        }
        let authors = graph.add("authors") {
            second.open()
            try await first.pass()
            return 2
        }
        let sum = graph.add("sum", after: books, authors) { $0 + $1 }
        let run = try graph.build(returning: sum).start()
        #expect(try await run.value == 3)
    }

    @Test func `a failure reaches every dependent with its root`() async throws {
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { () throws -> Int in throw Unavailable() }
        let stored = graph.add("stored", after: books) { $0 }
        let report = graph.add("report", after: stored) { $0 }
        let run = try graph.build(returning: report).start()
        let error = try #require(await #expect(throws: BackplaneError.self) { try await run.value })
        #expect(error.code == .operationUnsatisfied && error.location == "shelf")
        #expect(error.message == "`report` was not run, because it needs `books`: the shelf is unavailable")
        #expect(error.causes.map(\.code) == [.componentFailed])
        guard case .failure(let own) = try await run.outcome(of: books) else { return #expect(Bool(false)) }
        #expect(own.code == .componentFailed && own.message == "the shelf is unavailable")
        #expect(await run.lastStates == ["books": .failed, "stored": .failed, "report": .failed])
    }

    @Test func `a finish node runs after all others and gets every outcome`() async throws {
        let gate = TestGate()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { () throws -> Int in throw Unavailable() }
        let authors = graph.add("authors") {
            try await gate.pass()
            return 2
        }
        let stored = graph.add("stored", after: books) { $0 }
        let finish = graph.add("finish", after: books.always, stored.always, authors.always) { books, stored, authors in
            [books, stored, authors].map { outcome in
                switch outcome {
                case .success(let value): "\(value)"
                case .failure(let error): error.code.rawValue
                }
            }
        }
        let run = try graph.build(returning: finish).start()
        await run.reached(.failed, "stored")
        #expect(try run.state(of: finish) == .waiting)
        gate.open()
        #expect(try await run.value == ["component.failed", "operation.unsatisfied", "2"])
    }

    @Test func `a value that is missing has a replacement`() async throws {
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { () throws -> [String] in throw Unavailable() }
        let titles = graph.add("titles", after: books) { $0.map { $0.uppercased() } }
        let shown = graph.add("shown", after: titles.recover { [$0.code.rawValue] }) { $0 }
        let fine = graph.add("fine", after: shown.recover { _ in ["unused"] }) { $0 }
        let lost = graph.add("lost", after: books.recover { _ in throw Unavailable() }) { $0 }
        let report = graph.add("report", after: fine, lost.always) { fine, lost in (fine, try? lost.get()) }
        let (titlesShown, found) = try await graph.build(returning: report).start().value
        #expect(titlesShown == ["operation.unsatisfied"] && found == nil)
    }

    @Test func `handlers are called once, before dependents begin`() async throws {
        let log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.add("books") { 3 }
        graph.onSuccess(of: books) { books, status in log.add("\(books) in attempt \(status.attempt)") }
        graph.onFailure(of: books) { _, _ in log.add("never") }
        let broken = graph.add("broken", after: books) { _ throws -> Int in
            log.add("broken begins")
            throw Unavailable()
        }
        graph.onFailure(of: broken) { error, status in log.add("\(error.message), attempt \(status.attempt)") }
        let stored = graph.add("stored", after: broken) { $0 }
        graph.onFailure(of: stored) { error, status in log.add("\(error.code), attempt \(status.attempt)") }
        graph.onSuccess(of: stored) { _, _ in log.add("never") }
        let finish = graph.add("finish", after: stored.always) { _ in log.add("finish begins") }
        try await graph.build(returning: finish).start().value
        #expect(
            log.all == [
                "3 in attempt 1", "broken begins", "the shelf is unavailable, attempt 1",
                "operation.unsatisfied, attempt 0", "finish begins",
            ])
    }

    @Test func `a graph without a result node fails with any node that nobody waits for`() async throws {
        var graph = GraphBuilder("shelf")
        _ = graph.add("books") { 1 }
        _ = graph.add("authors") { () throws -> Int in throw Unavailable() }
        let run = try graph.build().start()
        let error = await #expect(throws: BackplaneError.self) { try await run.value }
        #expect(error?.message == "`end` was not run, because it needs `authors`: the shelf is unavailable")
        try await GraphBuilder("nothing").build().start().value
    }

    /// Returns the error of building a graph.
    private func refusal(_ describe: (inout GraphBuilder) -> Void) -> BackplaneError? {
        var graph = GraphBuilder("shelf")
        describe(&graph)
        do {
            _ = try graph.build()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["plain", "always", "recover"])
    func `nodes that wait for each other are refused`(kind: String) throws {
        let error = refusal { graph in
            let signIn = graph.add("sign in") { 1 }
            let books = graph.add("books", after: signIn) { $0 }
            let stored = graph.add("stored", after: books) { $0 }
            switch kind {
            case "plain": graph.order(books, after: stored)
            case "always": graph.order(books, after: stored.always)
            default: graph.order(books, after: stored.recover { _ in 0 })
            }
        }
        #expect(error?.code == .operationCycle && error?.location == "shelf")
        let start = "2 nodes wait for each other, so none of them can begin: "
        let ways = ["`books` → `stored` → `books`", "`stored` → `books` → `stored`"]
        #expect(ways.map { start + $0 }.contains(error?.message))
    }

    @Test func `a node of another graph is refused`() async throws {
        var other = GraphBuilder("other")
        let stranger = other.add("stranger") { 1 }
        let wanted = "`stranger` is a node of another graph; await it there, or run that graph as a node of this one"
        #expect(refusal { graph in _ = graph.add("books", after: stranger) { $0 } }?.message == wanted)
        #expect(refusal { graph in graph.onSuccess(of: stranger) { _, _ in } }?.message == wanted)
        #expect(refusal { graph in graph.order(stranger, after: graph.add("books") { 1 }) }?.message == wanted)
        let error = #expect(throws: BackplaneError.self) { _ = try GraphBuilder("shelf").build(returning: stranger) }
        #expect(error?.message == wanted)
        let run = try other.build().start()
        var graph = GraphBuilder("shelf")
        let book = graph.add("book") { 1 }
        let unknown = #expect(throws: BackplaneError.self) { try run.state(of: book) }
        #expect(unknown?.message == "`book` is a node of another graph; expected one of `other`")
        #expect(throws: BackplaneError.self) { try run.cancel(.needs(of: book)) }
        #expect(throws: BackplaneError.self) { try run.pause(.dependents(of: book)) }
    }

    @Test func `a whole graph is a node, and its shape depends on a value`() async throws {
        var graph = GraphBuilder("catalogue")
        let count = graph.add("count") { 5 }
        let pages = graph.addGraph("pages", after: count) { count in
            var pages = GraphBuilder("pages")
            let all = (1...count).map { number in pages.add("page \(number)") { number } }
            let sum = pages.add("sum", afterAll: all) { $0.reduce(0, +) }
            return try pages.build(returning: sum)
        }
        let report = graph.add("report", after: pages) { "\($0)" }
        // A graph that is a node takes no place, so that one is enough.
        let run = try graph.build(returning: report).start(width: 1)
        #expect(try await run.value == "15")
    }

    @Test func `a chain of many nodes neither overflows the stack nor its release does`() async throws {
        for isStarted in [true, false] {
            var graph = GraphBuilder("chain")
            var last = graph.add("first") { 0 }
            for _ in 1..<100_000 { last = graph.add("next", after: last) { $0 + 1 } }
            let built = try graph.build(returning: last)
            #expect(built.count == 100_000)
            if isStarted { #expect(try await built.start().value == 99_999) }
        }
    }
}

extension GraphRun {
    /// Waits until a node has come to a state, or has already.
    func reached(_ state: NodeState, _ node: String) async {
        for await event in events where event.name == node && event.state == state { return }
    }

    /// The states of all nodes at the end, by their names.
    var lastStates: [String: NodeState] {
        get async {
            await drained()
            var states: [String: NodeState] = [:]
            for await event in events { states[event.name] = event.state }
            return states
        }
    }
}

struct Unavailable: Error, CustomStringConvertible {
    var description: String { "the shelf is unavailable" }
}
