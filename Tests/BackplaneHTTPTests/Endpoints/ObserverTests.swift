import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Observers of all loads of a client and of an endpoint: each step, in order.
@Suite(.timeLimit(.minutes(5)))
struct LoadObserverTests {
    /// Returns an observer that records the steps but for progress, of which it records the received bytes.
    private func observer(
        _ name: String, _ steps: Recording<String>, _ received: Recording<Int64>
    ) -> @Sendable (ExchangeEvent) -> Void {
        { event in
            let status = event.status.map(String.init) ?? "none"
            switch event.stage {
            case .start: steps.add("\(name) started \(event.endpoint ?? "")")
            case .attempted: steps.add("\(name) attempt \(event.attempt) \(status)")
            case .head: steps.add("\(name) head \(status) \(event.headers?["X-Shelf"] ?? "")")
            case .progress: received.add(event.received)
            default: steps.add("\(name) \(event.failure?.code.rawValue ?? "succeeded")")
            }
        }
    }

    @Test(arguments: ClientKind.all)
    func `observers of the client and of the endpoint see each step of a load`(kind: ClientKind) async throws {
        let count = Recording<Void>()
        let server = try TestServer { _, connection in
            count.add(())
            guard count.all.count > 1 else { return connection.answer("503 Unavailable") }
            connection.answer("200 OK", [("X-Shelf", "7")], body: Array("whale".utf8))
        }
        let steps = Recording<String>(), received = Recording<Int64>()
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url()), endpoint = Endpoint<String>("GET", "books")
            http.defaults.observers = [observer("client", steps, received)]
            endpoint.observers = [observer("endpoint", steps, received)]
            endpoint.retry = .immediate
            #expect(try await http.load(endpoint, call) == "whale")
        }
        let expected = ["started GET books", "attempt 1 503", "attempt 2 200", "head 200 7", "succeeded"].flatMap {
            ["client \($0)", "endpoint \($0)"]
        }
        #expect(steps.all == expected)
        #expect(received.all.suffix(2) == [5, 5])
    }

    @Test(arguments: ClientKind.all)
    func `a load that fails has one start and one end`(kind: ClientKind) async throws {
        let server = try TestServer { $1.answer("404 Not Found") }
        let steps = Recording<String>(), received = Recording<Int64>()
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url())
            http.defaults.observers = [observer("all", steps, received)]
            let client = http
            for path in ["books", "../books"] {
                await #expect(throws: BackplaneError.self) {
                    let nothing = try await client.load(Endpoint<Nothing>("GET", path), call)
                    return nothing
                }
            }
        }
        #expect(
            steps.all == [
                "all started GET books", "all attempt 1 404", "all head 404 ", "all network.status",
                "all started GET ../books", "all network.invalid-request",
            ])
    }

    @Test func `the events of each load have its number, also those of its handle`() async throws {
        let executor = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200, body: [49])) }
        var http = HTTPClient([executor]).relative(to: "http://books.test"), endpoint = Endpoint<Int>("GET", "books")
        let events = Recording<ExchangeEvent>(), own = Recording<ExchangeEvent>()
        endpoint.name = "shelf"
        http.defaults.observers = [{ events.add($0) }]
        let loads = [endpoint.load(on: http), endpoint.load(on: http)]
        loads[0].observe { own.add($0) }
        for load in loads { #expect(try await load.value == 1) }
        _ = try await own.first { $0.stage == .end }
        #expect(Set(events.all.map(\.exchange)).count == 2 && Set(own.all.map(\.exchange)).count == 1)
        for number in Set(events.all.map(\.exchange)) {
            let told = events.all.filter { $0.exchange == number && $0.stage != .progress }
            #expect(told.map(\.stage) == [.start, .attempted, .head, .end] && told.last?.attempt == 1)
        }
        #expect((events.all + own.all).allSatisfy { $0.endpoint == "shelf" && $0.url == "http://books.test/books" })
    }
}

/// What loads log, at each level, and that it contains no secrets.
@Suite(.timeLimit(.minutes(5)))
struct LoadLogTests {
    private struct Line: Sendable {
        var message: String
        var metadata: [String: String]
    }

    /// A server that fails the first request, and then answers with a secret.
    private func server() throws -> TestServer {
        let count = Recording<Void>()
        return try TestServer { _, connection in
            count.add(())
            guard count.all.count > 1 else { return connection.answer("503 Unavailable") }
            connection.answer("200 OK", [("Set-Cookie", "id=secret"), ("Content-Type", "text/plain")], body: [0x61])
        }
    }

    private func lines(_ level: LoadLogLevel?, by client: LoadLogLevel = .none, kind: ClientKind) async throws -> [Line]
    {
        let server = try server(), lines = Recording<Line>()
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url())
            http.defaults.logLevel = client
            http.defaults.log = { message, metadata, _ in lines.add(Line(message: message, metadata: metadata)) }
            var endpoint = Endpoint<String>(
                "POST", "books", query: ["key": "secret"],
                headers: ["Authorization": "secret", "Accept": "text/plain"],
                body: .text("secret"))
            var retry = RetryPolicy.immediate
            retry.repeatsAnyMethod = true
            (endpoint.retry, endpoint.logLevel) = (retry, level)
            #expect(try await http.load(endpoint, call) == "a")
        }
        for line in lines.all { #expect(!"\(line)".contains("secret")) }
        return lines.all
    }

    @Test(arguments: ClientKind.all)
    func `each level logs what it says, and that of the endpoint goes before the client's`(kind: ClientKind)
        async throws
    {
        let none = try await lines(nil, kind: kind),
            quiet = try await lines(LoadLogLevel.none, by: .verbose, kind: kind)
        #expect(none.isEmpty && quiet.isEmpty)
        for minimal in [try await lines(.minimal, kind: kind), try await lines(nil, by: .minimal, kind: kind)] {
            #expect(minimal.map(\.message) == ["load ended"])
            let end = try #require(minimal.first).metadata
            #expect(end["method"] == "POST" && end["status"] == "200" && end["attempts"] == "2")
            #expect(end["url"]?.hasSuffix("/books") == true && Int(end["milliseconds"] ?? "") != nil)
        }
        let verbose = try await lines(.verbose, kind: kind)
        #expect(verbose.map(\.message) == ["load started", "attempt", "attempt", "response", "load ended"])
        #expect(verbose[0].metadata["request"]?.hasPrefix("curl ") == true)
        #expect(verbose[0].metadata["request"]?.contains("Accept: text/plain") == true)
        #expect(verbose[1].metadata == ["attempt": "1", "status": "503"])
        #expect(verbose[2].metadata == ["attempt": "2", "status": "200"])
        let fields = verbose[3].metadata["fields"]
        #expect(fields?.contains("Content-Type: text/plain") == true && fields?.contains("Set-Cookie: …") == true)
    }

    @Test func `a URL that is refused is logged without its password`() async throws {
        let lines = Recording<Line>()
        var http = HTTPClient([MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) }])
        http.defaults.logLevel = .minimal
        http.defaults.log = { message, metadata, _ in lines.add(Line(message: message, metadata: metadata)) }
        _ = try? await http.load(Endpoint<String>("GET", "https://ann:secret@books.test/whale?key=secret"))
        #expect(lines.all.count == 1 && !"\(lines.all)".contains("secret"), "\(lines.all)")
    }

    @Test func `a component logs under its own name, with the trace of the call`() async throws {
        let log = TestLog(), server = try TestServer { $1.answer("404 Not Found") }
        try await LendingPlugin.lent(.urlSession) {
            $0.log = log
        } _: { _, context in
            var endpoint = Endpoint<String>("GET", "books")
            endpoint.logLevel = .minimal
            let call = context.begin(), http = context.http.relative(to: server.url())
            _ = try? await http.load(endpoint, call)
            let record = try await log.record("load ended")
            #expect(record.source == "LendingCommunication" && record.level == .info)
            #expect(record.metadata["error"] == "network.status" && record.metadata["status"] == "404")
            #expect(record.metadata["trace"] == call.trace?.id)
        }
    }
}

/// Observers of exchanges: closures of a program, and managers of plugins.
@Suite(.timeLimit(.minutes(5)))
struct ObserverTests {
    /// The events of an observer, in a form that tests compare.
    private struct Told: Sendable {
        let events = Recording<ExchangeEvent>()

        var observer: @Sendable (ExchangeEvent) -> Void { { [events] in events.add($0) } }

        /// The stages up to the first end.
        func stages() async throws -> [String] {
            _ = try await events.first { $0.stage == .end }
            return events.all.map { event in
                let facts = [event.status.map { "\($0)" }, event.error].compactMap(\.self)
                return ([event.stage.rawValue, "\(event.attempt)"] + facts).joined(separator: " ")
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `the stages of an exchange are told in order, with retries and redirects`(engine: Engine) async throws {
        let count = Mutex(0)
        let server = try TestServer { request, connection in
            let number = count.next()
            switch number {
            case 1: connection.answer("503 Service Unavailable")
            case 2: connection.answer("302 Found", [("Location", "/there?key=2")])
            default: connection.answer("200 OK", body: Array("whale".utf8))
            }
        }
        let told = Told(), network = HTTPPipeline([engine.executor()], observers: [told.observer])
        var options = HTTPOptions()
        (options.redirects, options.retry) = (5, .immediate)
        _ = try await network.send(HTTPRequest("GET", server.url("/?key=1")), options)
        let stages = try await told.stages().filter { !$0.hasPrefix("progress") }
        #expect(
            stages == [
                "start 0", "attempt 1", "head 1 503", "retry 1 503", "attempt 2", "redirect 2", "head 2 200",
                "end 2 200",
            ])
        let events = told.events.all, end = try #require(events.last)
        #expect(Set(events.map(\.exchange)).count == 1)
        #expect(end.url == server.url("/there") && end.received == 5 && end.error == nil)
        #expect(events.allSatisfy { !$0.url.contains("key") })
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.after <= $1.after })
        #expect(events.first { $0.stage == .retry }?.delay == 0)
    }

    @Test(arguments: Engine.allCases)
    func `the bytes of both bodies are told, also of downloads and streams`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhale\r\n0\r\n\r\n")
        }
        let files = try TestFolder(), path = files.path + "/observed"
        let request = HTTPRequest("GET", server.url())
        let ways: [@Sendable (HTTPPipeline) async throws -> Void] = [
            { _ = try await $0.send(request) },
            { _ = try await $0.download(request, to: path) },
            { _ = try await $0.open(request).body.collect(upTo: 100) },
        ]
        for way in ways {
            let told = Told()
            try await way(HTTPPipeline([engine.executor()], observers: [told.observer]))
            #expect(try await told.stages().last == "end 1 200")
            #expect(told.events.all.contains { $0.stage == .progress && $0.received > 0 })
            #expect(told.events.all.last?.received == 5)
        }
        let told = Told(), network = HTTPPipeline([engine.executor()], observers: [told.observer])
        _ = try await network.send(HTTPRequest("POST", server.url(), body: .text("white whale")))
        _ = try await told.stages()
        if Engine.streaming.contains(engine) { #expect(told.events.all.last?.sent == 11) }
    }

    @Test func `an exchange ends once, with the reason`() async throws {
        let server = try TestServer { request, connection in
            if request.target == "/half" {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.stall()
            }
            connection.reset()
        }
        let failed = Told()
        _ = try? await HTTPPipeline([Engine.urlSession.executor()], observers: [failed.observer])
            .send(HTTPRequest("GET", server.url("/none"), body: .none))
        #expect(try await failed.stages() == ["start 0", "attempt 1", "end 1 network.failed"])
        let refused = Told()
        _ = try? await HTTPPipeline([], observers: [refused.observer]).send(HTTPRequest("GET", "http://books.test/"))
        #expect(try await refused.stages() == ["start 0", "end 0 network.refused"])
        let released = Told()
        do {
            let network = HTTPPipeline([Engine.urlSession.executor()], observers: [released.observer])
            _ = try await network.open(HTTPRequest("GET", server.url("/half")))
        }
        #expect(try await released.stages().last == "end 1 200 call.cancelled")
        #expect(released.events.all.count { $0.stage == .end } == 1)
    }

    @Test func `a manager that throws or blocks holds up nobody, and is told what it missed`() async throws {
        let executor = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 204)) }
        struct ObserverFailure: Error {}
        let gate = TestGate(), batches = Recording<ExchangeEvents>(), failures = Recording<String>()
        let blocking = EventDelivery { batch in
            try await gate.pass()
            batches.add(batch)
            throw ObserverFailure()
        } failed: {
            failures.add("\($0)")
        }
        let network = HTTPPipeline([executor], observers: [{ blocking.add($0) }])
        for number in 1...500 {
            _ = try await network.send(HTTPRequest("GET", "http://books.test/"))
            if number == 1 { try await gate.arrivals() }
        }
        #expect(batches.all.isEmpty)
        gate.open()
        let told = try await batches.first(2)
        let count = told.reduce(0) { $0 + $1.events.count + $1.lost }
        #expect(count == 2_000)
        #expect(told[1].events.count == EventQueue.most && told[1].lost > 0)
        _ = try await failures.first(1)
    }

    @Test(arguments: Engine.allCases, [LaneRule.fastest, .encoded])
    func `a manager of a plugin is told of what components and the host send`(engine: Engine, lanes: LaneRule)
        async throws
    {
        let server = try TestServer { $1.answer("200 OK", body: Array("whale".utf8)) }
        let events = Recording<ExchangeEvent>()
        try await ExtendedHost.with(
            [.init(interests: .events, events: { batch in for event in batch.events { events.add(event) } })],
            engine: engine.executor(), lanes: lanes
        ) { extended in
            let call = extended.context.begin()
            _ = try await extended.context.http.send(HTTPRequest("GET", server.url("/a")), call)
            let end = try await events.first { $0.stage == .end }
            #expect(end.status == 200 && end.received == 5 && end.component == "LendingCommunication")
            #expect(end.trace == call.trace?.id)
            #expect(
                events.all.map(\.stage.rawValue).filter { $0 != "progress" } == ["start", "attempt", "head", "end"])
            _ = try await extended.host.network.send(HTTPRequest("GET", server.url("/b")))
            let own = try await events.first { $0.stage == .end && $0.url.hasSuffix("/b") }
            #expect(own.component == nil)
        }
    }

    @Test func `the stages of one trace gather for who asks for them`() async throws {
        let server = try TestServer { $1.answer("204 No Content") }
        try await ExtendedHost.with { extended in
            let call = extended.context.begin(), traced = try #require(extended.host.exchanges(of: call.trace))
            _ = try await extended.context.http.send(HTTPRequest("GET", server.url("/a")), call)
            _ = try await extended.text(HTTPRequest("GET", server.url("/b")))
            let stages = traced.take()
            #expect(stages.map(\.stage.rawValue) == ["start", "attempt", "head", "end"])
            #expect(stages.allSatisfy { $0.url == server.url("/a") } && traced.take().isEmpty)
        }
    }
}
