import Backplane
import BackplaneBoundary
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought graphs of operations: in C, loaded from files and swapped for other editions.
@Suite(.timeLimit(.minutes(5)))
struct OperationsStepTests {
    private struct OperationsStepHost {
        let test: TestHost
        private let folder: LoadingFixture.Folder
        var graphs: HostOperations { test.host.operations }

        init(_ flags: String...) async throws {
            folder = try LoadingFixture.Folder()
            try folder.write(Self.library(flags), as: "libOperationsStep.so")
            test = try TestHost(
                """
                {"manifestVersion": 1, "plugins": [{"library": "OperationsStep"}],
                 "managers": {"OperationsStep": {"className": "OperationsStepManager"}}}
                """, linked: [], in: folder, stopLimit: .seconds(60))
            try await test.host.start()
        }

        private static func library(_ flags: [String]) throws -> [UInt8] {
            let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/operations.c", encoding: .utf8)
            return try LoadingFixture.library(
                of: source,
                ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"] + flags)
        }

        func call(_ method: String) async throws(BackplaneError) -> String {
            try await test.call("OperationsStep", method)
        }

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
            test.log.all.filter { $0.source == "OperationsStep" }.map {
                "\($0.message) \($0.metadata["edition"] ?? "?")"
            }
        }
    }

    private func states(_ component: OperationsStepHost, _ number: UInt64) throws -> [String] {
        try component.graphs.detail(of: number).nodes.map(\.state)
    }

    @Test func `a graph is listed, described and controlled while it runs`() async throws {
        let component = try await OperationsStepHost()
        let number = try await component.begin()
        let graph = try #require(component.graphs.all.first)
        #expect(component.graphs.all.count == 1)
        #expect(
            graph.name == "batch" && graph.component == "OperationsStep"
                && graph.plugin == "org.backplane.tests.operations-step")
        #expect(graph.isNamed && graph.queue == "" && graph.states == ["running": 1, "waiting": 2])
        let nodes = try component.graphs.detail(of: number).nodes
        #expect(nodes.map(\.name) == ["item 0", "item 1", "item 2"])
        #expect(nodes.map(\.needs) == [nil, [0], [1]])
        try component.graphs.change(.pause, number, node: nil)
        #expect(try states(component, number) == ["pausing", "paused", "paused"])
        #expect(try await component.call("advance") == "true")
        #expect(try await component.call("advance") == "false")
        #expect(try states(component, number) == ["succeeded", "paused", "paused"])
        try component.graphs.change(.resume, number, node: nil)
        #expect(try states(component, number) == ["succeeded", "running", "waiting"])
        try component.graphs.change(.cancel, number, node: nil)
        #expect(component.graphs.all.isEmpty)
        #expect(component.lines == ["finished 0 1", "released the batch 1"])
        await component.test.host.stop()
        #expect(component.lines.suffix(2) == ["released the definition 1", "released 1"])
    }

    @Test func `what is unknown is said to be`() async throws {
        let component = try await OperationsStepHost()
        let number = try await component.begin()
        func message(_ body: () throws -> Void) -> String? {
            do {
                try body()
                return nil
            } catch {
                return (error as? BackplaneError)?.message
            }
        }
        #expect(
            message { try component.graphs.change(.pause, number, node: 3) }
                == "`batch` has no node 3; its nodes have the numbers from 0 to 2")
        #expect(
            message { _ = try component.graphs.detail(of: number + 1_000) }
                == "no graph with the number \(number + 1_000) is running; `backplane operations list` shows those that are"
        )
        #expect(
            message { _ = try component.graphs.watch(0) }?.hasPrefix("no graph with the number 0 is running") == true)
        await component.test.host.stop()
    }

    @Test func `a watch sees the end`() async throws {
        let component = try await OperationsStepHost()
        let watch = try component.graphs.watch(try await component.begin())
        #expect(try watch.nodes().nodes.map(\.state) == ["running", "waiting", "waiting"])
        for _ in 0..<3 { #expect(try await component.call("advance") == "true") }
        let (nodes, hasEnded) = try watch.nodes()
        #expect(hasEnded && nodes.map(\.state) == ["succeeded", "succeeded", "succeeded"])
        await component.test.host.stop()
    }

    @Test func `newer code goes on with the graph, once the item that runs is finished`() async throws {
        let component = try await OperationsStepHost()
        let number = try await component.begin()
        let swap = Task { try await component.swap("-DEDITION=\"2\"") }
        await eventually { component.graphs.state.withLock { !$0.held.isEmpty } }
        #expect(try await component.call("advance") == "true")
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await component.call("edition") == "2")
        #expect(try states(component, number) == ["succeeded", "running", "waiting"])
        for _ in 0..<2 { #expect(try await component.call("advance") == "true") }
        #expect(component.graphs.all.isEmpty)
        await eventually { component.lines.contains("released 1") }
        #expect(
            component.lines.filter { $0.hasPrefix("finished") } == ["finished 0 1", "finished 1 2", "finished 2 2"])
        let ends = component.lines.filter { $0.hasSuffix(" 1") && !$0.hasPrefix("finished") }
        #expect(ends.first == "left the batch 1" && ends.last == "released 1", "\(ends)")
        #expect(
            ends.sorted() == [
                "left the batch 1", "released 1", "released the batch 1", "released the definition 1",
            ])
        await component.test.host.stop()
    }

    @Test func `an instance is released after its graph, however long a thread uses that`() async throws {
        let component = try await OperationsStepHost()
        let number = try await component.begin()
        var used: HostOperations.Graph? = try component.graphs.graph(number)
        let swap = Task { try await component.swap("-DEDITION=\"2\"") }
        await eventually { component.graphs.state.withLock { !$0.held.isEmpty } }
        #expect(try await component.call("advance") == "true")
        #expect(try await swap.value.outcome == .swapped)
        await eventually { component.lines.contains("released the definition 1") }
        #expect(used?.name == "batch" && !component.lines.contains("released 1"))
        used = nil
        await eventually { component.lines.contains("released 1") }
        #expect(
            component.lines.filter { $0.hasPrefix("released") } == [
                "released the definition 1", "released the batch 1", "released 1",
            ])
        await component.test.host.stop()
    }

    @Test func `a swap that fails lets it go on`() async throws {
        let component = try await OperationsStepHost()
        let number = try await component.begin()
        let late = await error {
            try await component.swap("-DEDITION=\"2\"", drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(
            late?.message.contains("a node of the graph `batch` of OperationsStep") == true,
            "\(String(describing: late))")
        let missing = await error { try await component.swap("-DEDITION=\"3\"", "-DWITHOUT") }
        #expect(
            missing?.message.contains("the new code of OperationsStep does not define the graph `batch`, which runs")
                == true,
            "\(String(describing: missing))")
        for _ in 0..<3 { #expect(try await component.call("advance") == "true") }
        #expect(throws: BackplaneError.self) { try component.graphs.detail(of: number) }
        #expect(!component.lines.contains("left the batch 1"))
        await component.test.host.stop()
    }

    @Test func `a graph that newer code cannot read is lost, and the report says why`() async throws {
        let component = try await OperationsStepHost()
        let number = try await component.begin()
        try component.graphs.change(.pause, number, node: nil)
        #expect(try await component.call("advance") == "true")
        let report = try await component.swap("-DEDITION=\"2\"", "-DSPOILED")
        #expect(report.outcome == .swapped)
        #expect(report.warnings == ["the graph `batch` of OperationsStep is lost: the saved state is invalid"])
        #expect(component.graphs.all.isEmpty)
        await eventually { component.lines.contains("released 1") }
        #expect(component.lines.contains("left the batch 1"))
        await component.test.host.stop()
    }
}
