import Foundation
import Testing

/// `backplane operations` and `backplane graph --operations` against a running host.
@Suite(.timeLimit(.minutes(5)))
struct OperationsToolTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "FixturesInC"}],
             "managers": {"OperationsStep": {"className": "OperationsStepManager"}}}
            """, as: "operations-step.json")
    }

    /// Starts a host with a batch of three items, and returns the number of the batch.
    private func begin() async throws -> (running: RunningTool, number: String) {
        let running = try await tool.startRun(manifest)
        #expect(try await tool.plain("call", "OperationsStep", "begin", "--running").output == "true\n")
        let list = try await tool.plain("operations", "list", "--json")
        let graphs = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        #expect(graphs.count == 1 && graphs[0]["name"] as? String == "batch")
        return (running, "\(try #require(graphs[0]["number"] as? Int))")
    }

    @Test func `a graph is listed, shown, paused, resumed, watched and cancelled`() async throws {
        let (running, number) = try await begin()
        let listed = try await tool.plain("operations", "list")
        #expect(listed.output.contains("batch") && listed.output.contains("1 running, 2 waiting"), "\(listed)")
        let watch = try tool.start(["operations", "watch", number])
        #expect(await watch.says("0 item 0: running"), "\(watch.errors)")
        #expect(try await tool.plain("operations", "pause", number).status == 0)
        #expect(await watch.says("2 item 2: paused"), "\(watch.output)")
        let shown = try await tool.plain("operations", "show", number)
        #expect(shown.output.contains("batch of OperationsStep: 2 paused, 1 pausing"), "\(shown)")
        #expect(try await tool.plain("operations", "resume", number).status == 0)
        #expect(try await tool.plain("call", "OperationsStep", "advance", "--running").output == "true\n")
        #expect(await watch.says("0 item 0: succeeded"), "\(watch.output)")
        let unknown = try await tool.plain("operations", "cancel", number, "--node", "7")
        #expect(unknown.status == 1 && unknown.errors.contains("`batch` has no node 7"), "\(unknown)")
        #expect(try await tool.plain("operations", "cancel", number).status == 0)
        let outcome = await watch.end()
        #expect(outcome.status == 0 && outcome.output.contains("2 item 2: cancelled"), "\(outcome)")
        let gone = try await tool.plain("operations", "show", number)
        #expect(gone.status == 1 && gone.errors.contains("operation.unknown"), "\(gone)")
        running.signal(SIGTERM)
        _ = await running.end()
    }

    @Test func `graph --operations draws the nodes with their states`() async throws {
        let (running, number) = try await begin()
        let tree = try await tool.plain("graph", "--operations")
        #expect(tree.status == 0 && tree.output.hasPrefix("OperationsStep: batch, number \(number)\n"), "\(tree)")
        #expect(tree.output.contains("1 item 1: waiting, after 0\n"), "\(tree)")
        let json = try await tool.plain("graph", "--operations", "--json")
        let graphs = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        let nodes = try #require(graphs.first?["nodes"] as? [[String: Any]])
        #expect(nodes.map { $0["needs"] as? [Int] } == [nil, [0], [1]])
        running.signal(SIGTERM)
        _ = await running.end()
    }
}
