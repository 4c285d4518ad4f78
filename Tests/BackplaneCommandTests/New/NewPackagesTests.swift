import Backplane
import BackplaneControl
import BackplaneHost
import Foundation
import TestFixtures
import Testing

/// What `backplane new` makes builds without a warning and passes its tests at once, and fetches one package.
@Suite(.nightly, .timeLimit(.minutes(30)))
struct NewPackagesTests {
    private let tool: Tool
    private let workspace: NewWorkspace

    init() throws {
        tool = try Tool()
        workspace = try NewWorkspace()
    }

    /// One test, since the second of these finds built what the first has built.
    @Test func `what is made builds, and passes its tests, at once`() async throws {
        try await package()
        try await program()
        try await servedApplication()
        try await thisPackage()
        #expect(workspace.fetched() == ["swift-argument-parser"])
    }

    /// A package, with managers of all kinds, and a second plugin in it.
    private func package() async throws {
        try await workspace.new("package", "Tides", in: "")
        try await workspace.new("manager", "Weather", "--dac", "--service", in: "Tides")
        try await workspace.new("plugin", "Ferry", in: "Tides")
        try await workspace.new("manager", "Crew", "--dac", "--plugin", "Ferry", in: "Tides")
        try await workspace.new("manager", "Buoy", "--service", "--plugin", "Ferry", in: "Tides")
        try await workspace.new("manager", "Notices", "--stream", "--plugin", "Ferry", in: "Tides")
        try await workspace.new("contracts", "Harbour", in: "Tides")
        try await workspace.new("manager", "Desk", "--contracts", "Harbour", "--plugin", "Ferry", in: "Tides")
        try await workspace.new("plugin", "Dock", "--contracts", "Harbour", in: "Tides")
        try await workspace.new(
            "manager", "Quay", "--plugin", "Tides", "--uses", "TidesManager", "--uses", "DeskManager", in: "Tides")
        let outcome = try await workspace.swift("test", in: "Tides")
        #expect(outcome.contains("Test run with 17 tests in 12 suites passed"))
        let manifest = workspace.folder + "/Tides/backplane.json"
        let greeting = try await tool.run(
            "call", manifest, "TidesManager", "greet", "\"Ada\"", "--plugin-path", workspace.built)
        #expect(greeting.output == "\"Hello, Ada!\"\n", "\(greeting.errors)")
        let items = try await tool.run("call", manifest, "WeatherManager", "items", "--plugin-path", workspace.built)
        #expect(
            items.output.contains("The first item") && items.output.contains(#""source":"network""#), "\(items.errors)")
        let posted = try await tool.run(
            "call", manifest, "NoticesManager", "post", "\"Hello\"", "--plugin-path", workspace.built)
        #expect(posted.output == "1\n", "\(posted.errors)")
    }

    /// A program, which stays until it is told to stop, and is reached by other commands until then.
    private func program() async throws {
        try await workspace.new("app", "Harbour", in: "")
        let outcome = try await workspace.swift("test", in: "Harbour")
        #expect(outcome.contains("Test run with 3 tests in 2 suites passed"))
        for signal in [SIGTERM, SIGINT] {
            let environment = ["XDG_RUNTIME_DIR": tool.folder, "XDG_STATE_HOME": tool.folder]
            let harbour = try RunningTool(
                [], of: workspace.built + "/Harbour", input: nil, environment: environment,
                in: workspace.folder + "/Harbour")
            try #require(await harbour.says("up; stop with control-C"), "\(harbour.errors)")
            let call = try await tool.plain("call", "HarbourManager", "items", "--running")
            #expect(call.output.contains("The first item"), "\(call.errors)")
            // A client that is still there when the program ends.
            let socket = try LocalSocket(
                connectingTo: tool.folder + "/backplane/host-\(harbour.number).sock", within: .seconds(60))
            try socket.write(Array("{".utf8), until: .now + .seconds(60))
            // Connections are accepted in their order: with this one that of the client has been.
            #expect(try await tool.plain("stats").status == 0)
            harbour.signal(signal)
            let ended = await harbour.end()
            var told: [UInt8] = []
            while try socket.read(into: &told, limit: 4_096, until: .now + .seconds(60)) {}
            #expect(String(decoding: told, as: UTF8.self).contains("host.stopped"))
            #expect(ended.status == 0 && ended.output.hasSuffix("stopping\n"), "\(ended.errors)")
        }
        let lost = try RunningTool(
            ["nowhere.json"], of: workspace.built + "/Harbour", input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder])
        let ended = await lost.end()
        #expect(ended.status == 1 && ended.errors.contains("manifest.unreadable"))
    }

    /// An application that serves HTTP, by the command.
    private func servedApplication() async throws {
        try await workspace.new("app", "Pier", "--routes", in: "")
        let outcome = try await workspace.swift("test", in: "Pier")
        #expect(outcome.contains("Test run with 3 tests in 1 suite passed"))
        let pier = try await tool.startRun(
            workspace.folder + "/Pier/backplane.json", "--serve", "127.0.0.1:0", "--plugin-path", workspace.built)
        try #require(await pier.says("127.0.0.1:"), "\(pier.output)\(pier.errors)")
        let port = try #require(pier.output.firstMatch(of: /127\.0\.0\.1:([0-9]+)/)?.output.1)
        let client = try RawClient(port: try #require(UInt16(port)))
        client.send("GET /notes HTTP/1.1", "Host: localhost", "Connection: close", "", "")
        #expect(client.receive().hasSuffix("\r\n\r\n[]"))
        pier.signal(SIGTERM)
        #expect(await pier.end().status == 0)
    }

    /// A plugin in this package itself, or rather in a copy of it.
    private func thisPackage() async throws {
        try await workspace.new("plugin", "Ferry", in: "backplane")
        try await workspace.new("manager", "Crew", "--dac", "--service", "--plugin", "Ferry", in: "backplane")
        // Its tests stand in one program with all others; that they compile has to do.
        _ = try await workspace.swift("build", "--product", "Ferry", "--disable-default-traits", in: "backplane")
        _ = try await workspace.swift(
            "build", "--target", "FerryTests", "--disable-default-traits", in: "backplane")
        let greeting = try await tool.run(
            "call", workspace.folder + "/backplane/manifests/ferry.json", "FerryManager", "greet", "\"Ada\"",
            "--plugin-path", workspace.built)
        #expect(greeting.output == "\"Hello, Ada!\"\n", "\(greeting.errors)")
    }
}
