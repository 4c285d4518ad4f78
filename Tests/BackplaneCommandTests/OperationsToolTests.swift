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
        let mermaid = try await tool.plain("graph", "--operations")
        #expect(
            mermaid.output == """
                flowchart TD
                  subgraph g\(number)["OperationsStep#58; batch<br/>\(number)"]
                    g\(number)n0["item 0<br/>running"]:::running
                    g\(number)n1["item 1<br/>waiting"]:::waiting
                    g\(number)n2["item 2<br/>waiting"]:::waiting
                    g\(number)n0 --> g\(number)n1
                    g\(number)n1 --> g\(number)n2
                  end
                  classDef running fill:#dbeafe,stroke:#1d4ed8,color:#111
                  classDef waiting fill:#f3f4f6,stroke:#6b7280,color:#111

                """, "\(mermaid)")
        let dot = try await tool.plain("graph", "--operations", "--format", "dot")
        #expect(dot.output.contains("subgraph cluster_\(number) {") && dot.output.contains("-> g\(number)n2"))
        let json = try await tool.plain("graph", "--operations", "--format", "json")
        let graphs = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        let nodes = try #require(graphs.first?["nodes"] as? [[String: Any]])
        #expect(nodes.map { $0["needs"] as? [Int] } == [nil, [0], [1]])
        let refused = try await tool.plain("graph", manifest, "--socket", "/nowhere")
        #expect(refused.status == 64 && refused.errors.contains("--socket requires --operations"), "\(refused)")
        running.signal(SIGTERM)
        _ = await running.end()
    }
}
