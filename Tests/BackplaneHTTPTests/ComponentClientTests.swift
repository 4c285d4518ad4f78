import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// A component's `context.http` over sockets: streams both ways, progress, files, limits, and ends.
@Suite(.timeLimit(.minutes(10)))
struct ComponentClientTests {
    @Test(arguments: Engine.allCases)
    func `it conforms to what its executor declares, as the executor itself does`(engine: Engine) async throws {
        try await LendingPlugin.lent(engine) { _, context in
            let executor = engine.executor()
            let report = await HTTPConformance.run(
                limit: .seconds(240), except: engine == .urlSession ? Engine.urlSessionExceptions : []
            ) {
                ComponentExecutor(http: context.http, call: context.begin(), capabilities: executor.capabilities)
            }
            try report.requireSuccess()
            #expect(report.results.count == HTTPConformance.caseNames.count)
        }
    }

    @Test(arguments: Engine.streaming)
    func `the progress of both bodies is reported, up to the last byte`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK", body: $0.body) }
        try await LendingPlugin.lent(engine) { _, context in
            let last = Mutex(HTTPProgress()), reports = Mutex(0)
            var options = HTTPOptions()
            options.progress = { progress in
                last.withLock { $0 = progress }
                reports.withLock { $0 += 1 }
            }
            let bytes = [UInt8](repeating: 7, count: 3_000_000)
            let body = HTTPBody.replayable(length: 3_000_000) { Chunks(bytes, size: 700_000) }
            let response = try await context.http.send(
                HTTPRequest("POST", server.url(), body: body), context.begin(), options)
            #expect(response.body == bytes)
            let progress = last.withLock { $0 }
            #expect(progress.sent == 3_000_000 && progress.toSend == 3_000_000)
            #expect(progress.received == 3_000_000 && progress.toReceive == 3_000_000)
            #expect(reports.withLock { $0 } > 10, "chunks are at most 256 KB")
        }
    }

    @Test(arguments: Engine.allCases)
    func `a file of its folder is sent and another received, and nothing outside of it`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            connection.answer("200 OK", [("X-Type", request["Content-Type"] ?? "")], body: request.body)
        }
        try await LendingPlugin.lent(engine) { _, context in
            let folder = context.folder, text = String(repeating: "Call me Ishmael. ", count: 40_000)
            try Data(text.utf8).write(to: URL(filePath: folder + "/whale.txt"))
            let request = HTTPRequest(
                "POST", server.url(), body: .file(folder + "/whale.txt", type: "text/plain"))
            let response = try await context.http.download(request, to: "copy.txt", context.begin())
            #expect(response.status == 200 && response.body.isEmpty && response.headers["X-Type"] == "text/plain")
            #expect(try String(contentsOfFile: folder + "/copy.txt", encoding: .utf8) == text)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/copy.txt")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["copy.txt", "whale.txt"])
            try FileManager.default.createSymbolicLink(atPath: folder + "/way", withDestinationPath: "/tmp")
            for path in ["../copy.txt", "/etc/copy.txt", "way/copy.txt", "a/../copy.txt", "none/copy.txt", ""] {
                let error = await #expect(throws: BackplaneError.self) {
                    try await context.http.download(HTTPRequest("GET", server.url()), to: path, context.begin())
                }
                #expect(error?.code == .networkRefused, "\(path): \(String(describing: error))")
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a server that sends nothing of a body for too long ends a download, and a response that is collected`(
        engine: Engine
    ) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        let clock = TestClock()
        try await LendingPlugin.lent(engine) {
            $0.clock = clock
        } _: { _, context in
            let http = context.http, request = HTTPRequest("GET", server.url())
            let collected = await clock.passing(.seconds(60)) {
                await #expect(throws: BackplaneError.self) { try await http.send(request, context.begin()) }
            }
            let downloaded = await clock.passing(.seconds(60)) {
                await #expect(throws: BackplaneError.self) {
                    try await http.download(request, to: "whale", context.begin())
                }
            }
            for error in [collected, downloaded] {
                #expect(error?.code == .networkTimeout)
                #expect(error?.message == "the server sent none of the body for 60.0 seconds")
            }
            for _ in 1...2 { _ = await server.departures.first { _ in true } }
            // The component is told first, and the file is removed after that.
            await eventually { (try? FileManager.default.contentsOfDirectory(atPath: context.folder)) == [] }
        }
    }

    @Test(arguments: Engine.streaming)
    func `an exchange that is open when its component stops ends with call.retired`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        try await LendingPlugin.lent(engine) { host, context in
            let response = try await context.http.open(HTTPRequest("GET", server.url()), context.begin())
            #expect(try await response.body.next() == Array("half".utf8))
            let rest = Task { try await response.body.next() }
            await host.stop()
            let error = await #expect(throws: BackplaneError.self) { try await rest.value }
            #expect(error?.code == .callRetired)
            _ = await server.departures.first { _ in true }
            let after = await #expect(throws: BackplaneError.self) {
                try await context.http.open(HTTPRequest("GET", server.url()), context.begin())
            }
            #expect(after?.code == .callRetired)
        }
    }

    @Test(arguments: Engine.streaming)
    func `the deadline of the call ends a body`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        let clock = TestClock()
        try await LendingPlugin.lent(engine) {
            // The deadline comes before the limit for a body that nobody reads yet.
            ($0.clock, $0.exchangeIdleLimit) = (clock, .farAway * 2)
        } _: { host, context in
            let call = host.begin(within: .farAway)
            let response = try await context.http.open(HTTPRequest("GET", server.url()), call)
            let late = await clock.passing(.farAway) { await error { try await response.body.collect(upTo: 100) } }
            #expect(late?.code == .callDeadline)
        }
    }

    @Test(arguments: Engine.streaming)
    func `exchanges and the bytes of their bodies are counted`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            if request.target == "/held" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                return connection.stall()
            }
            connection.answer("200 OK", body: request.body + request.body)
        }
        try await LendingPlugin.lent(engine) { host, context in
            func counts() async -> ExchangeStatistics? {
                await host.statistics.first { $0.role == "communication controller" }?.exchanges
            }
            #expect(await counts() == ExchangeStatistics())
            let bytes = [UInt8](repeating: 1, count: 1_000)
            try Data(bytes).write(to: URL(filePath: context.folder + "/file"))
            for body in [
                HTTPBody.bytes(bytes), .file(context.folder + "/file"), .replayable { Chunks(bytes, size: 300) },
            ] {
                let request = HTTPRequest("POST", server.url(), body: body)
                _ = try await context.http.send(request, context.begin())
                try await context.http.download(request, to: "copy", context.begin())
            }
            _ = await #expect(throws: BackplaneError.self) {
                try await context.http.send(HTTPRequest("GET", "ftp://127.0.0.1/"), context.begin())
            }
            let expected = ExchangeStatistics(begun: 6, failed: 0, inFlight: 0, sent: 6_000, received: 12_000)
            #expect(await counts() == expected, "one that no executor takes does not begin")
            let held = try await context.http.open(HTTPRequest("GET", server.url("/held")), context.begin())
            #expect(try await held.body.next()?.count == 4)
            #expect(await counts()?.inFlight == 1)
            held.body.cancel()
            await eventually { await counts() == expected + ExchangeStatistics(begun: 1, received: 4) }
        }
    }
}

extension Engine {
    /// Those whose bodies stream both ways.
    static var streaming: [Engine] { allCases.filter { $0 != .urlSession } }
}

/// A component's client as an executor.
private struct ComponentExecutor: HTTPExecutor {
    let http: HTTPClient
    let call: Call
    let schemes = ["http"]
    let capabilities: HTTPCapabilities

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try Task.checkCancellation()
        do throws(BackplaneError) {
            var response = try await http.open(request, call, options)
            let body = response.body
            response.body = HTTPBodyStream(length: body.length, cancel: body.cancel) {
                do {
                    return try await body.next()
                } catch {
                    throw Self.executorError(error)
                }
            }
            return response
        } catch {
            throw Self.executorError(error)
        }
    }

    /// Components know a cancelled exchange by an error of the runtime, executors by Swift's.
    private static func executorError(_ error: any Error) -> any Error {
        (error as? BackplaneError)?.code == .callCancelled ? CancellationError() : error
    }
}

/// Bytes in chunks of one size.
struct Chunks: AsyncSequence, Sendable {
    let bytes: [UInt8]
    let size: Int

    init(_ bytes: [UInt8], size: Int) { (self.bytes, self.size) = (bytes, size) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<UInt8>
        let size: Int

        mutating func next() async -> [UInt8]? {
            defer { rest = rest.dropFirst(size) }
            return rest.isEmpty ? nil : Array(rest.prefix(size))
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...], size: size) }
}

/// The trace of a call in the exchanges that are made for it: in the log, and in what chosen hosts receive.
@Suite(.timeLimit(.minutes(5)))
struct ExchangeTraceTests {
    /// A server that answers with the trace that it has received.
    private func server() throws -> TestServer {
        try TestServer { request, connection in
            connection.answer("200 OK", body: Array((request["traceparent"] ?? "none").utf8))
        }
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test(arguments: Engine.allCases)
    func `a host that the manifest names receives the trace, and no other host does`(engine: Engine) async throws {
        let server = try server()
        try await LendingPlugin.lent(engine, traced: ["example.org", "127.0.0.1"]) { _, context in
            let call = context.begin(), trace = try #require(call.trace?.traceparent)
            let named = try await context.http.send(HTTPRequest("GET", server.url()), call)
            #expect(text(named) == trace)
            let other = "http://localhost:\(server.port)/"
            let unnamed = try await context.http.send(HTTPRequest("GET", other), call)
            #expect(text(unnamed) == "none")
            let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
            let chosen = try await context.http.send(
                HTTPRequest("GET", server.url(), headers: ["Traceparent": own]), call)
            #expect(text(chosen) == own, "what the component has set itself stays")
            let untraced = try await context.http.send(HTTPRequest("GET", server.url()), Call())
            #expect(text(untraced) == "none")
            let disguised = "http://127.0.0.1@localhost:\(server.port)/"
            let misled = try await context.http.send(HTTPRequest("GET", disguised), call)
            #expect(text(misled) == "none", "a name in front of the host is no host")
        }
    }

    @Test(arguments: Engine.allCases)
    func `the end of each exchange is logged with the trace, and without what may be secret`(engine: Engine)
        async throws
    {
        let server = try server(), log = TestLog()
        try await LendingPlugin.lent(engine) {
            $0.log = log
        } _: { _, context in
            let call = context.begin(), id = try #require(call.trace?.id)
            _ = try await context.http.send(HTTPRequest("GET", server.url("/books?key=secret")), call)
            let whole = try await log.record("exchange ended").metadata
            #expect(whole["trace"] == id && whole["component"] == "LendingCommunication" && whole["status"] == "200")
            #expect(whole["method"] == "GET" && whole["url"] == server.url("/books"))
            server.stop()
            let failed = await error { try await context.http.send(HTTPRequest("GET", server.url("/gone")), call) }
            let ended = log.records.filter { $0.message == "exchange ended" }
            #expect(ended.count == 2 && ended.last?.metadata["trace"] == id)
            #expect(ended.last?.metadata["error"] == failed?.code.rawValue && ended.last?.metadata["status"] == nil)
            #expect(!log.records.contains { $0.metadata.values.contains { $0.contains("secret") } })
        }
    }
}

/// What a host sends, by the manifest that is active.
@Suite(.timeLimit(.minutes(5)))
struct HostTests {
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
        let error = await error { try await host.network.send(HTTPRequest("GET", server.url("/refused"))) }
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
}
