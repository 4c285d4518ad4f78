#if Engines
import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `The server of a host` {
    private func serve(
        _ settings: ServerSettings = ServerSettings(listen: "127.0.0.1:0"), reloadsPages: Bool = false,
        _ change: (inout HostOptions) -> Void = { _ in },
        _ body: (_ port: UInt16, _ server: HostServer, _ host: PluginHost) async throws -> Void
    ) async throws {
        let manifest = Manifest(plugins: [], managers: ["Counter": ManagerDefinition(className: "CounterRoutes")])
        try await PluginHost.running(manifest, [CounterPlugin.self], executors: [], change) { host in
            try await HostServer.running(host, settings, reloadsPages: reloadsPages) { port, server in
                try await body(port, server, host)
            }
        }
    }

    @Test func `a plugin's route answers, and everything else is a problem`() async throws {
        try await serve { port, _, _ in
            let client = try ServerConnection(port: port)
            let found = try await client.get("/items/7")
            #expect(found.status == 200)
            #expect(found.text == "7")
            #expect(found["server"] == nil)
            let head = try await client.get("/items/7", "HEAD")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            for (method, path, status) in [("GET", "/nothing", 404), ("DELETE", "/items/7", 405), ("GET", "/..", 400)] {
                let problem = try await client.get(path, method)
                #expect(problem.status == status)
                #expect(problem["content-type"] == "application/problem+json")
                #expect(problem["allow"] == (status == 405 ? "GET, HEAD" : nil))
            }
        }
    }

    @Test func `paths that the settings do not name belong to plugins`() async throws {
        try await serve { port, _, _ in
            let client = try ServerConnection(port: port)
            for path in ["/healthz", "/metrics", "/backplane/reload", "/backplane/reload.js"] {
                #expect(try await client.get(path).status == 404)
            }
        }
    }

    @Test func `a request with two hosts is refused`() async throws {
        try await serve { port, _, _ in
            let client = try ServerConnection(port: port)
            try await client.send("GET /items/7 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            #expect(try await client.answer()?.status == 400)
        }
    }

    @Test func `a client that asks for another protocol is told that the connection ends`() async throws {
        try await serve { port, _, _ in
            let client = try ServerConnection(port: port)
            try await client.send(
                "GET /items/7 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                    + "HTTP2-Settings: AAMAAABk\r\n\r\n")
            let answer = try await client.answer()
            #expect(answer?.status == 200)
            #expect(answer?["connection"] == "close")
        }
    }

    // MARK: Stops

    @Test func `a stop closes idle connections, and answers what is in flight`() async throws {
        CounterRoutes.gate.close()
        try await serve { port, server, _ in
            let idle = try ServerConnection(port: port), busy = try ServerConnection(port: port)
            #expect(try await idle.get("/items/7").status == 200)
            async let answer = busy.get("/gate")
            try await CounterRoutes.gate.arrivals()
            async let stop: Void = server.stop()
            #expect(try await idle.hasEnded())
            CounterRoutes.gate.open()
            let text = try await answer.text
            #expect(text == "passed")
            #expect(try await busy.hasEnded())
            await stop
        }
    }

    @Test func `a client reads all of an answer that a stop overtakes`() async throws {
        try await serve { port, server, _ in
            let client = try ServerConnection(port: port, receiving: 64 << 10)
            let head = try await client.open("/long")
            async let stop: Void = server.stop()
            let answer = try await client.wait { $0.whole(head) }
            #expect(answer.isWhole)
            #expect(answer.body.count == CounterRoutes.length)
            await stop
        }
    }

    @Test func `a handler that does not end is cancelled after the limit for stops`() async throws {
        try await serve {
            $0.stopLimit = .milliseconds(50)
        } _: { port, server, _ in
            let client = try ServerConnection(port: port)
            try await client.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
            try await CounterRoutes.endless.arrivals()
            await server.stop()
        }
    }

    // MARK: Addresses and certificates

    @Test func `an address at which no server can listen is an error that names it`() async throws {
        let other = try LoopbackSocket(backlog: 1), taken = "127.0.0.1:\(other.port)"
        for (listen, words) in [
            (taken, "another program listens at \(taken); stop it, or listen at another address"),
            ("192.0.2.1:0", "192.0.2.1:0 is no address of this machine"),
            ("nowhere.invalid:0", "the name in nowhere.invalid:0 has no address"),
        ] {
            let found = await error { try await serve(ServerSettings(listen: listen)) { _, _, _ in } }
            #expect(found?.code == .serverFailed && found?.message.contains(words) == true, "\(listen)")
        }
    }

    @Test func `a file without a certificate is an error that names it`() async throws {
        let files = try TestFolder(), empty = try files.write(as: "empty.pem"), missing = files.path + "/missing.pem"
        for (path, reason) in [(empty, "the file has none"), (missing, "No such file or directory")] {
            var settings = ServerSettings(listen: "127.0.0.1:0")
            settings.tls = ServerTLS(certificate: path, key: path)
            let found = await error { [settings] in try await serve(settings) { _, _, _ in } }
            #expect(found?.code == .serverFailed)
            #expect(found?.location == path)
            #expect(found?.message == "the server needs a certificate chain in PEM: \(reason)")
        }
    }

    // MARK: Pages

    @Test func `pages are loaded again after a change, until the server stops`() async throws {
        try await serve(reloadsPages: true) { port, server, host in
            let page = try ServerConnection(port: port), other = try ServerConnection(port: port)
            let script = try await other.get("/backplane/reload.js")
            #expect(script["content-type"] == "text/javascript; charset=utf-8")
            #expect(script.text.contains("new EventSource(\"/backplane/reload\")"))
            let head = try await page.open("/backplane/reload")
            #expect(head["content-type"] == "text/event-stream")
            #expect(try await page.text(to: "retry: 500\n\n") != nil)
            for _ in 0..<2 {
                try await host.reset()
                #expect(try await page.text(to: "event: reload\ndata: reset\n\n") != nil)
            }
            await server.stop()
            #expect(try await page.hasEnded())
        }
    }

    @Test func `a manager in C answers a route`() async throws {
        let manifest =
            #"{"manifestVersion": 1, "plugins": [{"library": "FixturesInC"}], "managers": {"Clock": {"className": "RoutesInC"}}}"#
        let host = try TestHost(manifest, pluginPaths: [BuiltProducts.folder])
        try await host.host.start()
        try await HostServer.running(host.host, ServerSettings(listen: "127.0.0.1:0")) { port, _ in
            let client = try ServerConnection(port: port)
            #expect(try await client.get("/clock/utc").status == 204)
            #expect(try await client.get("/clock").status == 404)
        }
        await host.host.stop()
    }
}

extension HostServer {
    /// Runs a server, and stops it when `body` has ended, unless it has.
    static func running(
        _ host: PluginHost, _ settings: ServerSettings, reloadsPages: Bool = false,
        _ body: (_ port: UInt16, _ server: HostServer) async throws -> Void
    ) async throws {
        let server = HostServer(host, settings, reloadsPages: reloadsPages)
        let run = Task { try await server.run() }
        do {
            let address = try await server.listening()
            try await body(try #require(address.split(separator: ":").last.flatMap { UInt16($0) }), server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        try await run.value
    }
}

extension ServerConnection {
    /// Reads a body up to a text; returns `nil` if it ends before.
    func text(to end: String) async throws -> String? {
        var text = ""
        while !text.hasSuffix(end) {
            guard let piece = try await piece() else { return nil }
            text += String(decoding: piece, as: UTF8.self)
        }
        return text
    }
}

private struct CounterPlugin: Plugin {
    static let id = "org.backplane.tests.counter-routes"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(CounterRoutes.self) }
}

private final class CounterRoutes: RouteManager {
    static let gate = TestGate(), endless = TestGate()
    static let length = 8 << 20

    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<CounterRoutes>) {
        routes.get("/items/:id") { _, request, _ in try request.parameter("id") as String }
        routes.get("/long") { _, _, _ in RouteResponse(body: [UInt8](repeating: 0x78, count: CounterRoutes.length)) }
        routes.get("/gate") { _, _, _ in
            try await CounterRoutes.gate.pass()
            return "passed"
        }
        routes.get("/never") { _, _, _ in
            try await CounterRoutes.endless.pass()
            return "passed"
        }
    }
}
#endif
