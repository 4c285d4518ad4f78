import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

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
            let number = count.withLock { count in
                count += 1
                return count
            }
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

    // MARK: Plugins

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
