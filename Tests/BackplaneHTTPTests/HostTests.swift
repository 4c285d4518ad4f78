import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// A network service's `context.http`, through a whole host.
@Suite(.timeLimit(.minutes(5)))
struct HostTests {
    private let manifest = Manifest(
        plugins: [],
        managers: [
            "FetchingManager": ManagerDefinition(
                className: "FetchingManager",
                communicationController: ComponentDefinition(
                    className: "FetchingCommunication",
                    services: [ComponentDefinition(className: "FetchService", propertyName: "fetcher")]))
        ])

    private func fetching(
        _ engine: Engine, by clock: TestClock? = nil, _ body: (PluginHost, Remote<Fetching>) async throws -> Void
    ) async throws {
        try await PluginHost.running(manifest, [FetchingPlugin.self], executors: [engine.executor()]) {
            $0.clock = clock
        } _: { host in
            try await body(host, try await host.manager("FetchingManager"))
        }
    }

    @Test(arguments: Engine.allCases)
    func `what the server answers arrives at the manager's caller`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            connection.answer("203 X", body: Array("\(request.method) \(request["X-From"] ?? "") ".utf8) + request.body)
        }
        try await fetching(engine) { _, fetching in
            let answer = try await fetching.fetch(server.url())
            #expect(answer == "203 POST fetching what?")
        }
    }

    @Test(arguments: Engine.allCases)
    func `a server that never answers fails the call at the deadline`(engine: Engine) async throws {
        let clock = TestClock(), server = try TestServer { $1.stall() }
        try await fetching(engine, by: clock) { host, fetching in
            let call = host.begin(within: .seconds(36_000))
            let task = Task { try await fetching.fetch(server.url(), call) }
            _ = await server.requests.first { _ in true }
            clock.advance(by: .seconds(36_000))
            let error = await #expect(throws: BackplaneError.self) { try await task.value }
            #expect(error?.code == .callDeadline)
        }
    }

    @Test(arguments: Engine.allCases)
    func `cancelling the caller ends the exchange`(engine: Engine) async throws {
        let server = try TestServer { $1.stall() }
        try await fetching(engine) { _, fetching in
            let task = Task { try await fetching.fetch(server.url()) }
            _ = await server.requests.first { _ in true }
            task.cancel()
            let error = try #require(await #expect(throws: BackplaneError.self) { try await task.value })
            #expect(error.code == .callCancelled)
            _ = await server.departures.first { _ in true }
        }
    }

    @Test(arguments: [
        #""network": {"tls": {"127.0.0.1": {"minimum": "2.0"}}}"#, #""network": {"tls": []}"#, #""network": 1"#,
        #""store": {"damaged": "no"}"#, #"]"#,
    ])
    func `a manifest with a mistake in its sections fails every exchange, and none goes by the defaults`(
        section: String
    ) async throws {
        let server = try TestServer { $1.answer("204 No Content") }
        let text = #"{"manifestVersion": 1, "plugins": [], "managers": {}, \#(section)}"#
        let document = ManifestDocument(parsing: Data(text.utf8)), executor = Engine.urlSession.executor()
        let host = PluginHost(manifest: document, options: HostOptions(executors: [executor]))
        try await host.start(keepGoing: true)
        let error = await #expect(throws: BackplaneError.self) {
            try await host.network.send(HTTPRequest("GET", server.url("/refused")))
        }
        #expect(error == document.problems.first?.error)
        try await host.apply(Manifest(plugins: [], managers: [:]))
        _ = try await host.network.send(HTTPRequest("GET", server.url("/sent")))
        let first = await server.requests.first { _ in true }
        #expect(first?.target == "/sent")
        await host.stop()
    }

    @Test func `files are those of the folder of the manifest that is active`() async throws {
        let files = try TestFolder(), folder = files.path
        func document(_ name: String) throws -> ManifestDocument {
            let own = "\(folder)/\(name)"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            try Data(name.utf8).write(to: URL(filePath: own + "/name.txt"))
            try Data(#"{"manifestVersion": 1, "plugins": [], "managers": {}}"#.utf8).write(
                to: URL(filePath: own + "/manifest.json"))
            return ManifestDocument(contentsOf: own + "/manifest.json")
        }
        let host = PluginHost(manifest: try document("one"))
        try await host.start()
        func name() async throws -> String {
            String(decoding: try await host.network.send(HTTPRequest("GET", "file:name.txt")).body, as: UTF8.self)
        }
        #expect(try await name() == "one")
        try await host.apply(document("two"))
        #expect(try await name() == "two")
        await host.stop()
    }

    @Test(arguments: Engine.allCases)
    func `a host says which schemes it has, and prints no secret`(engine: Engine) async throws {
        try await fetching(engine) { _, fetching in
            let error = try #require(
                await #expect(throws: BackplaneError.self) {
                    try await fetching.fetch("ftp://ann:secret@127.0.0.1/a?secret")
                })
            #expect(error.code == .networkRefused)
            #expect(error.location == "ftp://127.0.0.1/a")
            #expect(error.message.contains("`http:`"))
        }
    }
}
