#if Engines
import Backplane
import BackplaneHost
import BackplaneTestKit
import BackplaneTools
import Foundation
import TestFixtures
import Testing

/// `backplane run` and `dev` with a server, which serves a route of a plugin in C: `GET /clock/:zone`.
@Suite(.timeLimit(.minutes(10)))
struct ServeTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Writes a manifest of managers of one class of the library `Edition`, and returns its path.
    private func manifest(_ managers: String..., className: String = "RoutesInC", more: String = "") throws -> String {
        try EditionLibrary.write(1, to: tool.folder)
        let list = managers.map { #""\#($0)": {"className": "\#(className)"}"# }.joined(separator: ", ")
        return try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Edition"}], "managers": {\#(list)}\#(more)}"#,
            as: "m.json")
    }

    private func port(_ url: Substring?) throws -> UInt16 {
        try #require(url?.split(separator: ":").last.flatMap { UInt16($0) }, "\(url ?? "no URL")")
    }

    /// Returns the status of the answer to a request on a connection of its own.
    private func status(_ path: String, at port: UInt16) throws -> String {
        let client = try RawClient(port: port)
        client.send("GET \(path) HTTP/1.1", "Host: localhost", "Connection: close", "", "")
        return String(client.receive().split(separator: " ").dropFirst().first ?? "none")
    }

    // MARK: run

    @Test func `the option serves the routes until a signal`() async throws {
        let running = try await tool.startRun(try manifest("Clock"), "--serve", "127.0.0.1:0")
        let line = try #require(running.output.firstMatch(of: #/serving (http://127.0.0.1:[0-9]+) \(1 route\)\n/#))
        let port = try port(line.1), idle = try RawClient(port: port)
        // Connections are accepted in their order, so the idle one is when the others have their answers.
        #expect(try status("/clock/utc", at: port) == "204")
        #expect(try status("/nothing", at: port) == "404")
        // Pages are loaded again only with `dev`.
        #expect(try status("/backplane/reload.js", at: port) == "404")
        running.signal(SIGTERM)
        #expect(idle.receive() == "")
        let outcome = await running.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasSuffix("SIGTERM: stopping\nstopped\n"))
    }

    @Test func `a stop while connections are accepted ends as any other`() async throws {
        for _ in 1...3 {
            let running = try await tool.startRun(try manifest("Clock"), "--serve", "127.0.0.1:0")
            let line = try #require(running.output.firstMatch(of: #/serving (http://127.0.0.1:[0-9]+) \(1 route\)\n/#))
            let port = try port(line.1), clients = try (1...16).map { _ in try RawClient(port: port) }
            running.signal(SIGTERM)
            let outcome = await running.end()
            #expect(outcome.status == 0, "\(outcome.errors)")
            withExtendedLifetime(clients) {}
        }
    }

    @Test func `the section of the manifest serves as well, and the option overrules its address`() async throws {
        let other = try LoopbackSocket(backlog: 1)
        let section =
            #", "server": {"listen": "127.0.0.1:\#(other.port)", "mount": {"Clock": "/api"}, "health": "/up"}"#
        let path = try manifest("Clock", more: section)
        let running = try tool.start([
            "run", path, "--json", "--serve", "127.0.0.1:0", "--data", tool.data, "--load-folder", tool.loads,
        ])
        #expect(await running.says("\n}\n"))
        struct Report: Decodable { var server: String }
        let report = try JSONDecoder().decode(Report.self, from: Data(running.output.utf8))
        let port = try port(report.server[...])
        #expect(try status("/api/clock/utc", at: port) == "204")
        #expect(try status("/clock/utc", at: port) == "404")
        #expect(try status("/up", at: port) == "200")
        running.signal(SIGTERM)
        #expect(await running.end().status == 0)
    }

    @Test(.enabled(if: PeerServer.isThere("curl"), "curl is not installed"))
    func `a certificate encrypts the connections`() async throws {
        let all = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../BackplaneHTTPTests/TLS/certificates.pem")
        let sections = try String(contentsOf: all, encoding: .utf8).split(separator: "# ")
        for (name, file) in [("server\n", "server.pem"), ("servers\n", "authority.pem")] {
            let section = try #require(sections.first { $0.hasPrefix(name) })
            _ = try tool.write(String(section.dropFirst(name.count)), as: file)
        }
        let tls = #"{"certificate": "server.pem", "key": "server.pem"}"#
        let path = try manifest("Clock", more: #", "server": {"listen": "127.0.0.1:0", "tls": \#(tls)}"#)
        let running = try await tool.startRun(path)
        let line = try #require(running.output.firstMatch(of: #/serving (https://127.0.0.1:[0-9]+) /#))
        let curl = try RunningTool(
            [
                "curl", "--silent", "--show-error", "--cacert", tool.folder + "/authority.pem", "--write-out",
                "%{http_code}", "\(line.1)/clock/utc",
            ], of: "/usr/bin/env", input: nil)
        let outcome = await curl.end()
        #expect(outcome.output == "204", "\(outcome.errors)")
        withExtendedLifetime(running) {}
    }

    @Test func `a server that cannot listen ends the command, and one without routes says what it lacks`() async throws
    {
        let other = try LoopbackSocket(backlog: 1), path = try manifest("Clock")
        let outcome = try await tool.run("run", path, "--serve", "127.0.0.1:\(other.port)")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("server.failed") && outcome.errors.contains("127.0.0.1:\(other.port)"))
        #expect(tool.loadFolders() == [])
        let running = try await tool.startRun(try manifest("Edition", className: "Edition"), "--serve", "127.0.0.1:0")
        #expect(running.output.contains("(0 routes)\n"))
        #expect(await running.logs("provides the contract HTTPRoutes"))
        running.signal(SIGTERM)
        #expect(await running.end().status == 0)
    }

    @Test func `routes that clash are not served, but do no harm otherwise`() async throws {
        let path = try manifest("Clock", "Watch")
        let refused = try await tool.run("run", path, "--serve", "127.0.0.1:0")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("route.clash") && refused.errors.contains("Watch"), "\(refused.errors)")
        let running = try await tool.startRun(path)
        #expect(!running.output.contains("serving"))
        running.signal(SIGTERM)
        #expect(await running.end().status == 0)
    }

    @Test func `a route that traps ends its process, whose last line names the plugin`() async throws {
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Served1"}], "managers": {"Served": {"className": "ServedRoutes"}}}"#,
            as: "backplane.json")
        let host = try RunningTool(
            ["run", manifest, "--serve", "127.0.0.1:0", "--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no"])
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        let address = try #require(
            host.output.firstMatch(of: #/serving http://127\.0\.0\.1:([0-9]+)/#), "\(host.output)")
        let client = try RawClient(port: try #require(UInt16(address.1)))
        client.send("GET /version HTTP/1.1", "Host: localhost", "", "")
        #expect(client.receive(to: "}").hasPrefix("HTTP/1.1 200 "))
        client.send("GET /trap HTTP/1.1", "Host: localhost", "", "")
        #expect(client.receive() == "")
        let outcome = await host.end()
        #expect(outcome.status < 0, "\(outcome.errors)")
        let last = try #require(outcome.errors.split(separator: "\n").last)
        #expect(
            last.hasPrefix("backplane: signal ") && last.contains("org.backplane.served, generation 1 ("), "\(last)")
    }

    // MARK: dev

    @Test func `dev serves, and has pages loaded again after a save and after a restart`() async throws {
        let editions = try DevEditions("Edition", with: tool)
        try editions.save(
            #"{"manifestVersion": 1, "plugins": [{"library": "Edition"}], "managers": {"Clock": {"className": "RoutesInC"}}}"#
        )
        // A restarted application serves at the same port.
        let free = try LoopbackSocket(backlog: nil).port
        let dev = try DevRun(editions.manifest, "--serve", "127.0.0.1:\(free)", with: tool)
        try await dev.next("started")
        #expect(try await dev.up().server == "http://127.0.0.1:\(free)")
        #expect(try status("/clock/utc", at: free) == "204")
        #expect(try status("/backplane/reload.js", at: free) == "200")
        let page = try reloadingPage(at: free)
        try editions.rename(2)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        #expect(page.receive(to: "\n\n").hasSuffix("event: reload\ndata: swapped\n\n"))
        #expect(try status("/clock/utc", at: free) == "204")

        try dev.killApplication()
        try await dev.next("hostEnded")
        try editions.rename(3)
        #expect(try await dev.up().server == "http://127.0.0.1:\(free)")
        _ = try reloadingPage(at: free)
        try await dev.stop()
    }

    /// Opens the event stream of a page, up to its beginning.
    private func reloadingPage(at port: UInt16) throws -> RawClient {
        let page = try RawClient(port: port)
        page.send("GET /backplane/reload HTTP/1.1", "Host: localhost", "", "")
        #expect(page.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(page.receive(to: "\n\n").hasSuffix("retry: 500\n\n"))
        return page
    }
}
#endif
