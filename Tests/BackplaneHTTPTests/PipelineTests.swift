import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Glibc
import NIOHTTP2
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHTTP

/// The limits, the progress and the timings of exchanges, over sockets and with both executors.
@Suite(.timeLimit(.minutes(5)))
struct PipelineTests {
    @Test func `a request chooses one of a program's executors by its name, and else the first for its scheme`()
        async throws
    {
        func answering(_ text: String, schemes: [String] = ["http"]) -> MemoryExecutor {
            MemoryExecutor(schemes: schemes) { _, _ in
                HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(text.utf8)))
            }
        }
        let network = HTTPPipeline([
            "default": answering("a"), "session": answering("b"), "archive": answering("c", schemes: ["archive"]),
        ])
        func text(_ url: String, _ name: String? = nil) async throws -> String {
            var options = HTTPOptions()
            options.executor = name
            return String(decoding: try await network.send(HTTPRequest("GET", url), options).body, as: UTF8.self)
        }
        let chosen = try await [
            text("http://a.test/"), text("http://a.test/", "session"), text("ARCHIVE:1"),
            text("http://a.test/", "archive"),
        ]
        #expect(chosen == ["a", "b", "c", "c"])
        let unknown = await #expect(throws: BackplaneError.self) { try await text("http://a.test/", "sesion") }
        #expect(
            unknown?.message
                == "no executor is named `sesion`; this pipeline has `archive`, `default`, `session`")
        let scheme = await #expect(throws: BackplaneError.self) { try await text("ftp://a.test/") }
        #expect(scheme?.message == "this pipeline cannot load `ftp:` URLs; it supports `archive:`, `http:`")
    }

    @Test(arguments: Engine.allCases)
    func `a server that never answers fails at the head's limit, and its connection ends`(engine: Engine) async throws {
        let server = try TestServer { $1.stall() }
        let clock = TestClock(), network = HTTPPipeline([engine.executor()], retries: Retries(clock: clock))
        var options = HTTPOptions()
        options.headTimeout = .milliseconds(9_500)
        let exchange = Task { [options] in
            try await network.open(HTTPRequest("GET", server.url("/slow?key=secret")), options)
        }
        _ = await server.requests.first { _ in true }
        try await clock.expire(.milliseconds(9_500))
        let error = await #expect(throws: BackplaneError.self) { try await exchange.value }
        #expect(error?.code == .networkTimeout)
        #expect(error?.message == "127.0.0.1:\(server.port) did not answer within 9.5 seconds")
        #expect(error?.location == server.url("/slow"))
        _ = await server.departures.first { _ in true }
    }

    @Test(arguments: Engine.allCases)
    func `a server that stalls inside the body fails at the read limit, or at the total`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        let clock = TestClock(), network = HTTPPipeline([engine.executor()], retries: Retries(clock: clock))
        func message(_ options: HTTPOptions) async throws -> String? {
            let response = try await network.open(HTTPRequest("GET", server.url()), options)
            return await clock.passing(.milliseconds(9_500)) {
                let error = await #expect(throws: BackplaneError.self) { try await response.collect() }
                #expect(error?.code == .networkTimeout)
                return error?.message
            }
        }
        var reading = HTTPOptions(), total = HTTPOptions()
        (reading.readTimeout, total.totalTimeout) = (.milliseconds(9_500), .milliseconds(9_500))
        #expect(try await message(reading)?.contains("sent none of the body within 9.5 seconds") == true)
        #expect(try await message(total)?.contains("did not answer completely within 9.5 seconds") == true)
        var departures = server.departures.makeAsyncIterator()
        for _ in 1...2 { await departures.next() }
    }

    @Test func `what URLSession has sent of a body is told`() async throws {
        let server = try TestServer { $1.answer("200 OK", body: [UInt8]("\($0.body.count)".utf8)) }
        let reports = Mutex<[HTTPProgress]>([])
        var options = HTTPOptions()
        options.progress = { progress in reports.withLock { $0.append(progress) } }
        let request = HTTPRequest("POST", server.url(), body: [UInt8](repeating: 7, count: 3_000_000))
        let response = try await HTTPPipeline([URLSessionExecutor()]).send(request, options)
        #expect(response.body == Array("3000000".utf8))
        let last = reports.withLock { $0.last }
        #expect(last?.sent == 3_000_000 && last?.toSend == 3_000_000)
    }

    @Test func `what URLSession receives before it is read is kept in a file, and read in order`() async throws {
        let whale = [UInt8].pattern(count: 3 << 20), (sent, send) = AsyncStream.makeStream(of: Void.self)
        let server = try TestServer { _, connection in
            connection.answer("200 OK", body: whale)
            send.yield()
        }
        let executor = URLSessionExecutor(maximumBodySize: 10_000)
        let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
        _ = await sent.first { _ in true }
        #expect(try await response.body.collect(upTo: 3 << 20) == whale)
    }

    @Test func `a step that ignores its cancellation does not hold up its limit`() async throws {
        let latch = Latch()
        defer { latch.open() }
        let deaf = MemoryExecutor { _, _ in
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    latch.pass()
                    continuation.resume()
                }
            }
            return HTTPStreamedResponse(HTTPResponse(status: 204))
        }
        let clock = TestClock(), network = HTTPPipeline([deaf], retries: Retries(clock: clock))
        var options = HTTPOptions()
        options.totalTimeout = .seconds(9)
        let error = await clock.passing(.seconds(9)) {
            await #expect(throws: BackplaneError.self) {
                try await network.send(HTTPRequest("GET", "http://library.invalid/"), options)
            }
        }
        #expect(error?.code == .networkTimeout)
    }

    @Test func `a body beyond the limit ends the exchange, while it is read`() async throws {
        let read = Mutex(0)
        let endless = MemoryExecutor { _, _ in
            HTTPStreamedResponse(
                status: 200,
                body: HTTPBodyStream {
                    read.withLock { $0 += 1 }
                    return [UInt8](repeating: 0, count: 1000)
                })
        }
        var options = HTTPOptions()
        options.maximumBodySize = 2500
        let response = try await HTTPPipeline([endless]).open(HTTPRequest("GET", "http://library.invalid/"), options)
        var count = 0
        let error = await error { for try await chunk in response.body { count += chunk.count } }
        #expect(error?.code == .networkTooLarge)
        #expect(count == 2000 && read.withLock { $0 } == 3)
    }

    @Test func `a thousand requests at once are bounded, and none is lost`() async throws {
        let under = Mutex((now: 0, most: 0))
        let server = try TestServer { request, connection in
            under.withLock { under in
                under.now += 1
                under.most = max(under.now, under.most)
            }
            connection.answer("200 OK", body: Array(request.target.utf8))
            under.withLock { $0.now -= 1 }
        }
        let executor = AsyncHTTPClientExecutor(connectTimeout: .seconds(60), connectionsPerHost: 32, proxies: .none)
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let response = try await executor.execute(HTTPRequest("GET", server.url("/\(number)")))
                    return response.body == Array("/\(number)".utf8)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(count == 1_000)
        #expect(under.withLock { $0.most } <= 32)
    }

    @Test func `who waits for a place can be cancelled, and others go on`() async throws {
        let latch = Latch()
        defer { latch.open() }
        let server = try TestServer { request, connection in
            if request.target == "/held" { latch.pass() }
            connection.answer("200 OK")
        }
        let executor = AsyncHTTPClientExecutor(connectionsPerHost: 1, proxies: .none)
        let held = Task { try await executor.execute(HTTPRequest("GET", server.url("/held"))) }
        _ = await server.requests.first { _ in true }
        let waiting = Task { try await executor.execute(HTTPRequest("GET", server.url("/never"))) }
        let next = Task { try await executor.execute(HTTPRequest("GET", server.url("/next"))) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        latch.open()
        #expect(try await held.value.status == 200)
        #expect(try await next.value.status == 200)
        #expect(try await executor.execute(HTTPRequest("GET", server.url())).status == 200, "no place was lost")
    }
}

/// What happens when there is no response.
@Suite(.timeLimit(.minutes(5)))
struct FailureTests {
    /// The error of a GET that must fail; in all of them, the URL is printed without its secrets, in one line.
    private func failure(_ engine: Engine, _ url: String, maximumBodySize: Int = 64 << 20) async throws
        -> BackplaneError
    {
        let executor = engine.executor()
        let secretive = url.replacing("://", with: "://ann:secret@", maxReplacements: 1) + "?key=secret"
        let error = try #require(
            await #expect(throws: BackplaneError.self) {
                try await executor.execute(HTTPRequest("GET", secretive), upTo: maximumBodySize)
            })
        #expect(error.location == url)
        #expect(!error.detailedDescription.contains("secret"))
        #expect(!error.message.contains("\n"))
        return error
    }

    /// RFC 6761: no name below `.invalid` exists.
    @Test(arguments: Engine.allCases)
    func `a name that is no host's is said to be unknown`(engine: Engine) async throws {
        let error = try await failure(engine, "http://library.invalid/books")
        #expect(error.code == .networkFailed)
        #expect(error.message == "the host name library.invalid cannot be resolved")
    }

    @Test
    func `a connection that is not accepted in time fails`() async throws {
        // Given a server that accepts nothing, and a queue that one connection fills
        let listener = try LoopbackSocket(backlog: 0)
        let first = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(first) }
        #expect(listener.withAddress { connect(first, $0, $1) } == 0)
        // The kernel may queue it later.
        var queued = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&queued, 1, 60_000) == 1)
        // When an executor with little patience connects
        let executor = AsyncHTTPClientExecutor(connectTimeout: .milliseconds(50))
        let request = HTTPRequest("GET", "http://127.0.0.1:\(listener.port)/")
        let error = try #require(await #expect(throws: BackplaneError.self) { try await executor.execute(request) })
        // Then it gives up
        #expect(error.code == .networkFailed)
        #expect(error.message == "127.0.0.1:\(listener.port) did not accept the connection in time")
    }

    @Test(arguments: Engine.allCases)
    func `an executor that has been shut down ends what is under way and carries out nothing more`(engine: Engine)
        async throws
    {
        let server = try TestServer { $1.stall() }
        let executor = engine.executor()
        let task = Task { try await executor.execute(HTTPRequest("GET", server.url())) }
        _ = await server.requests.first { _ in true }
        for _ in 1...2 { await executor.shutDown() }
        let ended = try #require(await #expect(throws: BackplaneError.self) { try await task.value })
        let refused = try #require(
            await #expect(throws: BackplaneError.self) { try await executor.execute(HTTPRequest("GET", server.url())) })
        for error in [ended, refused] {
            #expect(error.code == .networkShutDown)
            #expect(error.message.contains("shut down"))
        }
    }
}

extension HTTPExecutor {
    fileprivate func shutDown() async {
        await (self as? AsyncHTTPClientExecutor)?.shutdown()
        (self as? URLSessionExecutor)?.shutdown()
    }
}

/// Responses whose framing is a case of RFC 9110 and 9112, and what the executors make of them.
@Suite(.timeLimit(.minutes(5)))
struct FramingTests {
    @Test func `the bytes of a field that are not UTF-8 are replaced`() async throws {
        let server = try TestServer { _, connection in
            connection.send(Array("HTTP/1.1 204 No Content\r\nX-A: caf".utf8) + [0xE9] + Array("\r\n\r\n".utf8))
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        #expect(try await http.execute(HTTPRequest("GET", server.url())).headers["X-A"] == "caf\u{FFFD}")
        await http.shutdown()
    }

    @Test func `a head without end is an error, and is not held in memory`() async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            let line = "X-Filler: \(String(repeating: "x", count: 1_000))\r\n"
            for _ in 0..<100_000 where !connection.wasLeft { connection.send(line) }
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        let error = await error { try await http.execute(HTTPRequest("GET", server.url())) }
        #expect(error?.code == .networkMalformed, "\(String(describing: error))")
        _ = await server.departures.first { _ in true }
        await http.shutdown()
    }
}

/// Kept connections that a server closes just when they are used again.
@Suite(.timeLimit(.minutes(5)))
struct ClosedConnectionTests {
    /// A server that keeps each connection for one response, says so to nobody, and closes it at the next request.
    private static func forgetful(closing count: Int = .max) throws -> (TestServer, Counted) {
        let closed = Counted(), served = Mutex<Set<Int>>([])
        let server = try TestServer { request, connection in
            guard served.withLock({ $0.insert(connection.number).inserted }) || closed.value >= count else {
                closed.add(1)
                return connection.close()
            }
            connection.answer("200 OK", body: request.body)
        }
        return (server, closed)
    }

    @Test func `a kept connection that is closed costs an idempotent request another attempt`() async throws {
        let (server, closed) = try Self.forgetful(), http = AsyncHTTPClientExecutor(proxies: .none)
        #expect(try await http.execute(HTTPRequest("GET", server.url())).timings.attempts == 1)
        for (number, method) in ["GET", "PUT", "DELETE", "HEAD"].enumerated() {
            let body = method == "PUT" ? HTTPBody.replayable { Bytes("again") } : .none
            let response = try await http.execute(HTTPRequest(method, server.url(), body: body))
            #expect(response.status == 200 && response.timings.attempts == 2)
            #expect(response.body == (method == "PUT" ? Array("again".utf8) : []))
            #expect(closed.value == number + 1)
        }
        await http.shutdown()
    }

    @Test func `what is not idempotent, or cannot be sent again, is not repeated`() async throws {
        for request in [
            HTTPRequest("POST", "", body: .text("once")), HTTPRequest("PATCH", ""),
            HTTPRequest("PUT", "", body: .stream(Bytes("once"))),
        ] {
            let (server, closed) = try Self.forgetful(), http = AsyncHTTPClientExecutor(proxies: .none)
            _ = try await http.execute(HTTPRequest("GET", server.url()))
            var request = request
            request.url = server.url()
            let error = await #expect(throws: BackplaneError.self) { try await http.execute(request) }
            #expect(error?.code == .networkFailed && closed.value == 1)
            await http.shutdown()
        }
    }

    @Test func `a new connection that is closed is an error, and a request is repeated once at most`() async throws {
        let closed = Counted()
        let server = try TestServer { request, connection in
            if request.target == "/kept" { return connection.answer("200 OK") }
            closed.add(1)
            connection.close()
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        for (path, total) in [("/", 1), ("/kept", 1), ("/", 3)] {
            do {
                _ = try await http.execute(HTTPRequest("GET", server.url(path)))
                #expect(path == "/kept")
            } catch {
                #expect((error as? BackplaneError)?.code == .networkFailed && path == "/")
            }
            #expect(closed.value == total)
        }
        await http.shutdown()
    }
}

/// Servers that answer, or close a connection, before they have taken all requests.
@Suite(.timeLimit(.minutes(5)))
struct EarlyAnswerTests {
    @Test func `an HTTP/2 connection that its server closes gracefully fails no idempotent request`() async throws {
        let files = try TestFolder(), roots = URL(filePath: files.path + "/roots.pem")
        try Data(TestIdentity.servers.certificate.utf8).write(to: roots)
        let server = try await SecureTestServer(.server, requestsPerConnection: 30) { request in
            .init(body: Array("\(request.connection)".utf8))
        }
        let http = AsyncHTTPClientExecutor(trustRoots: roots.path, proxies: .none)
        let request = HTTPRequest("GET", server.url())
        #expect(try await http.execute(request).body == Array("0".utf8))  // HTTP/2 is known from now on
        let responses = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<48 { group.addTask { try await http.execute(request) } }
            return try await group.reduce(into: [HTTPResponse]()) { $0.append($1) }
        }
        #expect(responses.allSatisfy { $0.status == 200 } && server.requestCount == 49, "none was processed twice")
        #expect(responses.count { $0.body == Array("0".utf8) } == 29, "the first connection took 30 in all")
        await http.shutdown()
        await server.stop()
    }
}

/// The bytes of a text, as one chunk.
private struct Bytes: AsyncSequence, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    struct Iterator: AsyncIteratorProtocol {
        var text: String?

        mutating func next() async -> [UInt8]? {
            defer { text = nil }
            return text.map { Array($0.utf8) }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(text: text) }
}

/// More exchanges at once than there are connections: those that wait are bounded by nothing, and none is lost.
@Suite(.timeLimit(.minutes(10)))
struct ManyExchangesTests {
    @Test func `responses that a component never reads do not keep others from their server`() async throws {
        let server = try TestServer { request, connection in
            guard request.target == "/held" else { return connection.answer("200 OK", body: [7]) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        let clock = TestClock()
        try await LendingPlugin.lent(.asyncHTTPClient) {
            $0.clock = clock
        } _: { host, context in
            var held: [HTTPStreamedResponse] = []
            // As many as an executor has connections to one host.
            for _ in 0..<64 {
                held.append(try await context.http.open(HTTPRequest("GET", server.url("/held")), context.begin()))
            }
            async let waiting = context.http.send(HTTPRequest("GET", server.url("/")), context.begin())
            try await clock.expire(.seconds(60), waiters: 64)
            // One that waits for the server is not idle.
            let response = try await waiting
            #expect(response.body == [7])
            // The last one may count as read a little later than it is there.
            await clock.passing(.seconds(60)) {
                await eventually {
                    let counts = await host.statistics.first { $0.role == "communication controller" }?.exchanges
                    return counts?.begun == 65 && counts?.failed == 64 && counts?.inFlight == 0
                }
            }
            for response in held {
                let error = await #expect(throws: BackplaneError.self) { try await response.body.collect(upTo: 100) }
                #expect(error?.code == .networkTimeout)
            }
        }
    }
}
