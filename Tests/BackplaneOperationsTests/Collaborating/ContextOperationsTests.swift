import Backplane
import BackplaneHost
import BackplaneOperations
import BackplaneTestKit
import Testing

/// The queues of a component: `context.operations` and further ones.
@Suite(.timeLimit(.minutes(2)))
struct ContextOperationsTests {
    @Test func `a component has one queue and further ones, which end with it`() async throws {
        try await TestHost.run("GraphStarter", plugins: [GraphStarterPlugin.self]) { test in
            let starter: Remote<GraphStarting> = try await test.manager("GraphStarter")
            #expect(try await starter.count(Nothing(), test.begin()) == 3)
            #expect(test.host.operations.all.isEmpty, "whoever waits for a graph is told of its end after the host")
            // Graphs that never end by themselves.
            _ = try await starter.wait("", test.begin())
            _ = try await starter.wait("covers", test.begin())
            #expect(test.host.operations.all.map(\.queue) == ["", "covers"])
        }
        for name in ["", "covers"] { _ = try await GraphStarter.log.first { $0 == "cancelled in `\(name)`" } }
    }
}

private struct GraphStarting: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<Nothing, Int>()
    /// Starts a graph in the queue of a name, and returns when its node runs.
    let wait = AsyncMethod<String, Nothing>()
}

private struct GraphStarterPlugin: Plugin {
    static let id = "org.backplane.tests.graph-starter"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(GraphStarter.self)
    }
}

private final class GraphStarter: Manager {
    typealias Provides = GraphStarting
    static let className = "GraphStarter"
    static let log = Recording<String>()
    private let context: Context
    private let covers: GraphQueue

    init(_ context: Context) {
        self.context = context
        covers = GraphQueue("covers", width: 1, besides: context.operations)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { starter, _, _ in
            var graph = GraphBuilder("count")
            let one = graph.add("one") { 1 }
            let three = graph.add("three", after: one) { $0 + 2 }
            // Through two uses of the property, which are the same queue.
            starter.context.operations.pause()
            let run = starter.context.operations.start(try graph.build(returning: three))
            starter.context.operations.resume()
            return try await run.value
        }
        table.async(\.wait) { starter, name, _ in
            let begun = TestGate()
            var graph = GraphBuilder("wait")
            let waiting = graph.add("wait") {
                begun.open()
                do {
                    try await TestGate().pass()
                } catch {
                    GraphStarter.log.add("cancelled in `\(name)`")
                    throw error
                }
            }
            let queue = name.isEmpty ? starter.context.operations : starter.covers
            _ = queue.start(try graph.build(returning: waiting))
            try await begun.pass()
            return Nothing()
        }
    }
}
