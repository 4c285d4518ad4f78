import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Synchronization
import TestFixtures
import Testing

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
        let error = await #expect(throws: BackplaneError.self) {
            for try await chunk in response.body { count += chunk.count }
        }
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
