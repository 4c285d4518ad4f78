import Backplane
import BackplaneBoundary
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought graphs of operations: in C, loaded from files and swapped for other editions.
@Suite(.timeLimit(.minutes(5)))
struct OvenTests {
    private struct OvenHost {
        let test: TestHost
        private let folder: LoadingFixture.Folder
        var graphs: HostOperations { test.host.operations }

        init(_ flags: String...) async throws {
            folder = try LoadingFixture.Folder()
            try folder.write(Self.library(flags), as: "libOven.so")
            test = try TestHost(
                """
                {"manifestVersion": 1, "plugins": [{"library": "Oven"}],
                 "managers": {"Oven": {"className": "OvenManager"}}}
                """, linked: [], in: folder)
            try await test.host.start()
        }

        private static func library(_ flags: [String]) throws -> [UInt8] {
            let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/operations.c", encoding: .utf8)
            return try LoadingFixture.library(
                of: source,
                ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"] + flags)
        }

        func call(_ method: String) async throws(BackplaneError) -> String { try await test.call("Oven", method) }

        /// Begins a batch, and returns its number.
        func begin() async throws -> UInt64 {
            #expect(try await call("begin") == "true")
            return try #require(graphs.all.last).number
        }

        func swap(_ flags: String..., drain: DrainPolicy = .upTo(.seconds(60), then: .fail)) async throws -> SwapReport
        {
            let path = try folder.write(Self.library(flags), as: "libNext.so")
            return try await test.host.swap(library: path, SwapOptions(drain: drain, stepLimit: .seconds(60)))
        }

        /// What it wrote, and which edition of it.
        var lines: [String] {
            test.log.all.filter { $0.source == "Oven" }.map { "\($0.message) \($0.metadata["edition"] ?? "?")" }
        }
    }

    private func states(_ oven: OvenHost, _ number: UInt64) throws -> [String] {
        try oven.graphs.detail(of: number).nodes.map(\.state)
    }

    @Test func `a graph is listed, described and controlled while it runs`() async throws {
        let oven = try await OvenHost()
        let number = try await oven.begin()
        let graph = try #require(oven.graphs.all.first)
        #expect(oven.graphs.all.count == 1)
        #expect(graph.name == "batch" && graph.component == "Oven" && graph.plugin == "org.backplane.tests.oven")
        #expect(graph.isNamed && graph.queue == "" && graph.states == ["running": 1, "waiting": 2])
        let nodes = try oven.graphs.detail(of: number).nodes
        #expect(nodes.map(\.name) == ["loaf 0", "loaf 1", "loaf 2"])
        #expect(nodes.map(\.needs) == [nil, [0], [1]])
        try oven.graphs.change(.pause, number, node: nil)
        #expect(try states(oven, number) == ["pausing", "paused", "paused"])
        #expect(try await oven.call("bake") == "true")
        #expect(try await oven.call("bake") == "false")
        #expect(try states(oven, number) == ["succeeded", "paused", "paused"])
        try oven.graphs.change(.resume, number, node: nil)
        #expect(try states(oven, number) == ["succeeded", "running", "waiting"])
        try oven.graphs.change(.cancel, number, node: nil)
        #expect(oven.graphs.all.isEmpty)
        #expect(oven.lines == ["baked 0 1", "released the batch 1"])
        await oven.test.host.stop()
        #expect(oven.lines.suffix(2) == ["released the definition 1", "released 1"])
    }

    @Test func `what is unknown is said to be`() async throws {
        let oven = try await OvenHost()
        let number = try await oven.begin()
        func message(_ body: () throws -> Void) -> String? {
            do {
                try body()
                return nil
            } catch {
                return (error as? BackplaneError)?.message
            }
        }
        #expect(
            message { try oven.graphs.change(.pause, number, node: 3) }
                == "`batch` has no node 3; its nodes have the numbers from 0 to 2")
        #expect(
            message { _ = try oven.graphs.detail(of: number + 1_000) }
                == "no graph with the number \(number + 1_000) is running; `backplane operations list` shows those that are"
        )
        #expect(message { _ = try oven.graphs.watch(0) }?.hasPrefix("no graph with the number 0 runs") == true)
        await oven.test.host.stop()
    }

    @Test func `a watch sees the end`() async throws {
        let oven = try await OvenHost()
        let watch = try oven.graphs.watch(try await oven.begin())
        #expect(try watch.nodes().nodes.map(\.state) == ["running", "waiting", "waiting"])
        for _ in 0..<3 { #expect(try await oven.call("bake") == "true") }
        let (nodes, hasEnded) = try watch.nodes()
        #expect(hasEnded && nodes.map(\.state) == ["succeeded", "succeeded", "succeeded"])
        await oven.test.host.stop()
    }

    @Test func `newer code goes on with the graph, once the loaf in the oven is baked`() async throws {
        let oven = try await OvenHost()
        let number = try await oven.begin()
        let swap = Task { try await oven.swap("-DEDITION=\"2\"") }
        await eventually { oven.graphs.state.withLock { !$0.held.isEmpty } }
        #expect(try await oven.call("bake") == "true")
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await oven.call("edition") == "2")
        #expect(try states(oven, number) == ["succeeded", "running", "waiting"])
        for _ in 0..<2 { #expect(try await oven.call("bake") == "true") }
        #expect(oven.graphs.all.isEmpty)
        await eventually { oven.lines.contains("released 1") }
        #expect(oven.lines.filter { $0.hasPrefix("baked") } == ["baked 0 1", "baked 1 2", "baked 2 2"])
        #expect(
            oven.lines.filter { $0.hasSuffix(" 1") && !$0.hasPrefix("baked") } == [
                "left the batch 1", "released the batch 1", "released the definition 1", "released 1",
            ])
        await oven.test.host.stop()
    }

    @Test func `a swap that fails lets it go on`() async throws {
        let oven = try await OvenHost()
        let number = try await oven.begin()
        let late = await error {
            try await oven.swap("-DEDITION=\"2\"", drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(late?.message.contains("a node of the graph `batch` of Oven") == true, "\(String(describing: late))")
        let missing = await error { try await oven.swap("-DEDITION=\"3\"", "-DWITHOUT") }
        #expect(
            missing?.message.contains("the new code of Oven does not define the graph `batch`, which runs") == true,
            "\(String(describing: missing))")
        for _ in 0..<3 { #expect(try await oven.call("bake") == "true") }
        #expect(throws: BackplaneError.self) { try oven.graphs.detail(of: number) }
        #expect(!oven.lines.contains("left the batch 1"))
        await oven.test.host.stop()
    }

    @Test func `a graph that newer code cannot read is lost, and the report says why`() async throws {
        let oven = try await OvenHost()
        let number = try await oven.begin()
        try oven.graphs.change(.pause, number, node: nil)
        #expect(try await oven.call("bake") == "true")
        let report = try await oven.swap("-DEDITION=\"2\"", "-DSPOILED")
        #expect(report.outcome == .swapped)
        #expect(report.warnings == ["the graph `batch` of Oven is lost: the dough is spoiled"])
        #expect(oven.graphs.all.isEmpty)
        await eventually { oven.lines.contains("released 1") }
        #expect(oven.lines.contains("left the batch 1"))
        await oven.test.host.stop()
    }
}
