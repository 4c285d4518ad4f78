import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneExchange

/// Retries over sockets, and by a clock that the test controls.
@Suite(.timeLimit(.minutes(5)))
struct RetryTests {
    @Test(arguments: ClientKind.all)
    func `a failing server is asked again, and its last response is the result`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { request, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let isUp = request.target == "/up" && number % 3 == 0
            connection.answer(isUp ? "200 OK" : "503 Unavailable", body: Array("\(number)".utf8))
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url())
            http.defaults.retry = .immediate
            var up = Endpoint<String>("GET", "up")
            up.verdict = { _, response in
                #expect(response.timings.attempts == 3)
                return .accept
            }
            #expect(try await http.load(up, call) == "3")
            var down = Endpoint<String>("GET", "down")
            down.validStatuses = nil
            #expect(try await http.load(down, call) == "6")
            // Neither without a policy, nor with a method that is not idempotent unless the policy says so.
            (down.retry, down.method) = (RetryPolicy.none, "GET")
            #expect(try await http.load(down, call) == "7")
            (down.retry, down.method, down.body) = (nil, "POST", .text("order"))
            #expect(try await http.load(down, call) == "8")
            down.retry = .immediate
            down.retry?.repeatsAnyMethod = true
            #expect(try await http.load(down, call) == "11")
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `a connection that breaks is no result, before the head and within the body`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { _, connection in
            switch count.withLock({ count in
                count += 1
                return count
            }) {
            case 1: connection.reset()
            case 2:
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.reset()
            default: connection.answer("200 OK", body: Array("whole".utf8))
            }
        }
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<String>("POST", "")  // which executors do not repeat by themselves
            endpoint.retry = .immediate
            endpoint.retry?.repeatsAnyMethod = true
            #expect(try await http.relative(to: server.url()).load(endpoint, call) == "whole")
            #expect(count.withLock { $0 } == 3)
        }
    }

    @Test(arguments: ClientKind.all)
    func `a value that is judged as temporary is loaded again, within the rules`(kind: ClientKind) async throws {
        let count = Mutex(0)
        let server = try TestServer { _, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            connection.answer("200 OK", body: Array("\(number)".utf8))
        }
        try await kind.lend { http, call async throws in
            let attempts = Recording<Int>()
            var endpoint = Endpoint<Int>("GET", "")
            endpoint.retry = .immediate
            endpoint.verdict = { number, response in
                attempts.add(response.timings.attempts)
                return number % 5 == 2 ? .accept : .retry("it is \(number)")
            }
            let http = http.relative(to: server.url())
            #expect(try await http.load(endpoint, call) == 2)
            #expect(attempts.all == [1, 2])
            let error = await #expect(throws: BackplaneError.self) {
                let number = try await http.load(endpoint, call)
                return number
            }
            #expect(error?.code == .networkRejected && error?.message.hasSuffix("it is 5") == true)
            #expect(attempts.all == [1, 2, 1, 2, 3])
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `an attempt has a time limit of its own`(kind: ClientKind) async throws {
        let count = Mutex(0), stalls = Recording<Bool>()
        let server = try TestServer { _, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            stalls.add(number == 1)
            if number == 1 { connection.stall() } else { connection.answer("200 OK", body: [49]) }
        }
        let clock = TestClock()
        try await kind.lend(by: clock) { http, call async throws in
            var endpoint = Endpoint<Int>("GET", "")
            endpoint.retry = .immediate
            endpoint.retry?.attemptTimeout = .seconds(5)
            let load = endpoint.load(on: http.relative(to: server.url()), call)
            _ = try await stalls.first { $0 }
            try await clock.expire(.seconds(5))
            #expect(try await load.value == 1)
        }
    }

    // MARK: By a clock that stands still

    private func network(
        _ clock: some Clock<Duration>, _ answer: @escaping @Sendable (Int) -> HTTPResponse
    ) -> HTTPPipeline {
        let count = Mutex(0)
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(
                answer(
                    count.withLock { count in
                        count += 1
                        return count
                    }))
        }
        return HTTPPipeline([executor], retries: Retries(clock: clock, random: { 1 }))
    }

    @Test func `delays go by the clock, and Retry-After is waited for`() async throws {
        let clock = TestClock()
        let network = network(clock) { number in
            switch number {
            case 1: HTTPResponse(status: 503)
            case 2: HTTPResponse(status: 429, headers: ["Retry-After": "7"])
            default: HTTPResponse(status: 200)
            }
        }
        var options = HTTPOptions()
        options.retry = RetryPolicy()
        let exchange = Task { [options] in try await network.send(HTTPRequest("GET", "http://h"), options) }
        try await clock.expire(.milliseconds(200))
        try await clock.expire(.seconds(7))
        let response = try await exchange.value
        #expect(response.status == 200 && response.timings.attempts == 3)
    }

    @Test func `no attempt is waited for that would come after the time limit`() async throws {
        let network = network(TestClock()) {
            HTTPResponse(status: 503, headers: ["Retry-After": "50"], body: [UInt8($0)])
        }
        var options = HTTPOptions()
        (options.retry, options.totalTimeout) = (RetryPolicy(), .seconds(40))
        let response = try await network.send(HTTPRequest("GET", "http://h"), options)
        #expect(response.status == 503 && response.body == [1])
    }

    @Test func `cancelling ends a delay at once`() async throws {
        let clock = TestClock(), network = network(clock) { _ in HTTPResponse(status: 503) }
        let load = { () -> EndpointLoad<String> in
            var endpoint = Endpoint<String>("GET", "http://h")
            (endpoint.allowsFullURL, endpoint.retry) = (true, RetryPolicy())
            return endpoint.load(on: HTTPClient(network))
        }()
        try await clock.waiters(for: .milliseconds(200))
        load.cancel()
        guard case .failure(let error) = await load.result else { return #expect(Bool(false), "it has a value") }
        #expect(error.code == .callCancelled)
    }

    @Test func `a host that is down is asked a tenth more often, however many callers there are`() async throws {
        let clock = TestClock(), counted = Mutex(0)
        let executor = MemoryExecutor { request, _ in
            if request.url == "http://down" { counted.withLock { $0 += 1 } }
            return HTTPStreamedResponse(HTTPResponse(status: request.url == "http://down" ? 503 : 200))
        }
        // Nobody sleeps: the random part of every delay is nothing.
        let retries = Retries(clock: clock, random: { 0 }), network = HTTPPipeline([executor], retries: retries)
        var options = HTTPOptions()
        options.retry = RetryPolicy()
        for _ in 1...1_000 { _ = try await network.send(HTTPRequest("GET", "http://down"), options) }
        #expect((1_100...1_110).contains(counted.withLock { $0 }), "\(counted.withLock { $0 })")
    }

    @Test func `a budget is refilled by requests and by time, and each host has its own`() {
        let budget = RetryBudget()
        func taken(_ host: String, at time: Duration) -> Int {
            (0..<100).prefix { _ in budget.take(host, at: time) }.count
        }
        #expect(taken("a", at: .zero) == 10 && taken("b", at: .zero) == 10)
        for _ in 1...25 { budget.requested("a", at: .zero) }
        #expect(taken("a", at: .zero) == 2 && taken("b", at: .zero) == 0)
        #expect(taken("b", at: .seconds(35)) == 3)
        #expect(taken("b", at: .seconds(36_000)) == 10)
        #expect(taken("b", at: .zero) == 0, "a clock that goes back gives nothing")
    }
}
