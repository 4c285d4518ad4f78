import Backplane
import BackplaneHost
import BackplaneOperations
import BackplaneTestKit
import Testing

/// The queue of a component: `context.operations`.
@Suite(.timeLimit(.minutes(2)))
struct ContextOperationsTests {
    @Test func `a component has one queue, which ends with it`() async throws {
        try await TestHost.run("Shelver", plugins: [ShelverPlugin.self]) { test in
            let shelver: Remote<Shelving> = try await test.manager("Shelver")
            #expect(try await shelver.count(Nothing(), test.begin()) == 3)
            // A graph that never ends by itself.
            _ = try await shelver.wait(Nothing(), test.begin())
        }
        #expect(Shelver.log.all == ["cancelled"])
    }
}

private struct Shelving: Contract {
    static let version: Version = "1.0.0"
    let count = AsyncMethod<Nothing, Int>()
    let wait = AsyncMethod<Nothing, Nothing>()
}

private struct ShelverPlugin: Plugin {
    static let id = "org.backplane.tests.shelver"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Shelver.self) }
}

private final class Shelver: Manager {
    typealias Provides = Shelving
    static let className = "Shelver"
    static let log = Recording<String>()
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.count) { shelver, _, _ in
            var graph = GraphBuilder("count")
            let one = graph.add("one") { 1 }
            let three = graph.add("three", after: one) { $0 + 2 }
            // Through two uses of the property, which are the same queue.
            shelver.context.operations.pause()
            let run = shelver.context.operations.start(try graph.build(returning: three))
            shelver.context.operations.resume()
            return try await run.value
        }
        table.async(\.wait) { shelver, _, _ in
            let begun = TestGate()
            var graph = GraphBuilder("wait")
            let waiting = graph.add("wait") {
                begun.open()
                do {
                    try await TestGate().pass()
                } catch {
                    Shelver.log.add("cancelled")
                    throw error
                }
            }
            _ = shelver.context.operations.start(try graph.build(returning: waiting))
            try await begun.pass()
            return Nothing()
        }
    }
}
