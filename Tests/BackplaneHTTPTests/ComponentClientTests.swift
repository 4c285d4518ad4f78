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

    @Test(arguments: Engine.streaming)
    func `a response that nobody reads ends, with its connection`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        let clock = TestClock()
        try await LendingPlugin.lent(engine) {
            $0.clock = clock
        } _: { _, context in
            let response = try await context.http.open(HTTPRequest("GET", server.url()), context.begin())
            _ = await clock.passing(.seconds(60)) { await server.departures.first { _ in true } }
            let error = await #expect(throws: BackplaneError.self) { try await response.body.collect(upTo: 100) }
            #expect(error?.code == .networkTimeout)
            #expect(error?.message.contains("was not read") == true)
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
    func `the deadline of the call ends a body, and limits end what is slow or large`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.sendChunk(Array("half".utf8))
            if request.target == "/large" { connection.sendChunk([UInt8](repeating: 1, count: 5_000)) }
            connection.stall()
        }
        let clock = TestClock()
        try await LendingPlugin.lent(engine) {
            // The deadline comes before the limit for a body that nobody reads yet.
            ($0.clock, $0.exchangeIdleLimit) = (clock, .farAway * 2)
        } _: { host, context in
            let limit = Duration.farAway, call = host.begin(within: limit)
            let response = try await context.http.open(HTTPRequest("GET", server.url()), call)
            let late = await clock.passing(limit) {
                await #expect(throws: BackplaneError.self) { try await response.body.collect(upTo: 100) }
            }
            #expect(late?.code == .callDeadline)
            var options = HTTPOptions()
            options.readTimeout = .seconds(9)
            let slow = await clock.passing(.seconds(9)) {
                await #expect(throws: BackplaneError.self) {
                    try await context.http.send(HTTPRequest("GET", server.url()), context.begin(), options)
                }
            }
            #expect(slow?.code == .networkTimeout)
            let large = await #expect(throws: BackplaneError.self) {
                try await context.http.send(HTTPRequest("GET", server.url("/large")), upTo: 4_000, context.begin())
            }
            #expect(large?.code == .networkTooLarge)
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
