import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange

/// The limits of a pipeline and a host for the requests to others.
@Suite(.timeLimit(.minutes(5)))
struct LimitTests {
    typealias Answer = @Sendable (HTTPRequest) async throws -> HTTPResponse
    private let clock = TestClock()
    /// The paths of the requests that were sent.
    private let sent = Recording<String>()

    private func executor(_ answer: @escaping Answer = { _ in HTTPResponse(status: 200, body: [1, 2, 3, 4]) })
        -> MemoryExecutor
    {
        MemoryExecutor { [sent] request, _ in
            sent.add(WebURL(request.url)?.target ?? "")
            return HTTPStreamedResponse(try await answer(request))
        }
    }

    private func network(_ limits: NetworkLimits, _ answer: Answer? = nil) -> HTTPPipeline {
        HTTPPipeline(
            [answer.map { executor($0) } ?? executor()], retries: Retries(clock: clock, random: { 0 }), limits: limits)
    }

    private func get(_ path: String = "/", host: String = "books.test") -> HTTPRequest {
        HTTPRequest("GET", "http://\(host)\(path)")
    }

    private func send(_ path: String, by sender: String? = nil, on network: HTTPPipeline) -> Task<
        HTTPResponse, any Error
    > {
        var options = HTTPOptions()
        options.sender = sender
        return Task { [options] in try await network.send(get(path), options) }
    }

    /// Returns whether a request is sent rather than refused.
    private func isFree(_ network: HTTPPipeline, _ request: HTTPRequest) async -> Bool {
        do {
            _ = try await network.send(request)
            return true
        } catch {
            #expect((error as? BackplaneError)?.code == .networkLimited, "\(error)")
            return false
        }
    }

    private func waiting(_ count: Int, in limits: NetworkLimits) async {
        await eventually { limits.statistics.first?.waiting == count }
    }

    @Test func `a place is held until the body was read, cancelled or released, or the attempt has failed`()
        async throws
    {
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1, waiting: 0)]
        let network = network(limits) { request in
            if request.url.hasSuffix("/fails") { throw BackplaneError(.networkFailed, "it fails") }
            return HTTPResponse(status: 200, body: [1, 2])
        }
        let read = try await network.open(get())
        #expect(await !isFree(network, get()))
        _ = try await read.collect()
        #expect(await isFree(network, get()))
        let cancelled = try await network.open(get())
        #expect(await !isFree(network, get()))
        cancelled.body.cancel()
        #expect(await isFree(network, get()))
        do { _ = try await network.open(get()) }
        #expect(await isFree(network, get()))
        _ = await #expect(throws: BackplaneError.self) { try await network.send(get("/fails")) }
        #expect(await isFree(network, get()))
        #expect(limits.statistics == [LimitStatistics(host: "books.test:80", running: 0, waiting: 0, refused: 2)])
    }

    @Test func `requests wait for their turn, fairly between senders`() async throws {
        let limits: NetworkLimits = ["books.test": HostLimits(concurrent: 1)], network = network(limits)
        let held = try await network.open(get("/held"))
        var exchanges: [Task<HTTPResponse, any Error>] = []
        for (path, sender) in [("/a1", "A"), ("/a2", "A"), ("/a3", "A"), ("/b1", "B"), ("/p1", nil)] {
            exchanges.append(send(path, by: sender, on: network))
            await waiting(exchanges.count, in: limits)
        }
        #expect(sent.all == ["/held"])
        held.body.cancel()
        for exchange in exchanges { #expect(try await exchange.value.status == 200) }
        #expect(sent.all == ["/held", "/a1", "/b1", "/p1", "/a2", "/a3"])
        #expect(limits.statistics.first?.running == 0)
    }

    @Test func `cancelling a request that waits frees its place in the queue at once`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1, waiting: 1)], network = network(limits)
        let held = try await network.open(get("/held"))
        let cancelled = send("/cancelled", on: network)
        await waiting(1, in: limits)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(limits.statistics.first?.waiting == 0)
        let next = send("/next", on: network)
        await waiting(1, in: limits)
        let error = await #expect(throws: BackplaneError.self) { try await network.send(get("/refused")) }
        #expect(error?.code == .networkLimited && error?.networkNumber == 25 && error?.failure?.code == "limit.waiting")
        #expect(error?.location == "http://books.test/refused")
        held.body.cancel()
        _ = try await next.value
        #expect(sent.all == ["/held", "/next"])
    }

    @Test func `the time that a request waits counts towards its limits, and is no failure of the host`() async throws {
        let breaker = HostLimits.Breaker(failures: 1)
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1, breaker: breaker)], network = network(limits)
        let held = try await network.open(get("/held"))
        var options = HTTPOptions()
        options.headTimeout = .seconds(5)
        let late = Task { [options] in try await network.send(get("/late"), options) }
        await waiting(1, in: limits)
        try await clock.expire(.seconds(5))
        let error = await #expect(throws: BackplaneError.self) { try await late.value }
        #expect(error?.code == .networkTimeout)
        await waiting(0, in: limits)
        #expect(limits.statistics.first?.breaker == "closed" && sent.all == ["/held"])
        held.body.cancel()
    }

    @Test func `a host's name is for each of its ports, one with a port comes first, and the star last`() async throws {
        let none = HostLimits(), one = HostLimits(concurrent: 1, waiting: 0)
        var held: [HTTPStreamedResponse] = []
        let network = network(["Books.test": one, "books.test:8080": none, "free.test": none, "*": one])
        for (host, count) in [
            ("books.test", 1), ("BOOKS.test.", 0), ("books.test:80", 0), ("books.test:81", 1), ("books.test:8080", 3),
            ("free.test", 3), ("other.test", 1),
        ] {
            var responses: [HTTPStreamedResponse] = []
            for _ in 1...3 { if let response = try? await network.open(get(host: host)) { responses.append(response) } }
            #expect(responses.count == count, "\(host)")
            held += responses
        }
    }

    @Test func `a response may be limited in size for its host`() async throws {
        let limits: NetworkLimits = ["books.test": HostLimits(maximumBodySize: 3)], network = network(limits)
        let error = await #expect(throws: BackplaneError.self) { try await network.send(get()) }
        #expect(error?.code == .networkTooLarge)
        _ = try await network.send(get(host: "other.test"))
        #expect(limits.statistics.map(\.running) == [0])
    }

    @Test func `a rate is kept by the clock, after a burst`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(perSecond: 2, burst: 2)], network = network(limits)
        for path in ["/1", "/2"] { _ = try await network.send(get(path)) }
        let third = send("/3", on: network)
        await waiting(1, in: limits)
        let fourth = send("/4", on: network)
        await waiting(2, in: limits)
        try await clock.expire(.milliseconds(500))
        _ = try await third.value
        #expect(sent.all == ["/1", "/2", "/3"])
        try await clock.expire(.milliseconds(500))
        _ = try await fourth.value
        #expect(clock.pending == 0)
    }

    @Test func `a host that fails is left alone for a time, and then tried`() async throws {
        let status = Mutex(503), breaker = HostLimits.Breaker(failures: 2, openFor: .seconds(30))
        let limits: NetworkLimits = ["*": HostLimits(breaker: breaker)]
        let network = network(limits) { _ in HTTPResponse(status: status.withLock(\.self)) }
        for _ in 1...2 { #expect(try await network.send(get()).status == 503) }
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: BackplaneError.self) { try await network.send(get()) }
        #expect(error?.code == .networkLimited && error?.failure?.code == "limit.breaker")
        #expect(
            error?.message
                == "books.test:80 is not sent any requests after 2 failures in a row; "
                + "the next attempt is allowed in 20.0 seconds; nothing was sent")
        #expect(error?.failure?.details == ["next": "20.0"] && sent.all.count == 2)
        #expect(limits.statistics.first?.breaker == "open" && limits.statistics.first?.nextProbe == .seconds(20))
        clock.advance(by: .seconds(20))
        #expect(try await network.send(get()).status == 503)
        #expect(await !isFree(network, get()))
        clock.advance(by: .seconds(30))
        status.withLock { $0 = 200 }
        #expect(try await network.send(get()).status == 200)
        #expect(limits.statistics.first?.breaker == "closed" && limits.statistics.first?.refused == 2)
    }

    @Test func `retries pass the limits again, and a refusal is not retried`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(breaker: HostLimits.Breaker(failures: 2))]
        let network = network(limits) { _ in HTTPResponse(status: 503) }
        var options = HTTPOptions()
        options.retry = RetryPolicy(attempts: 5)
        let exchange = Task { [options] in try await network.send(get(), options) }
        let error = await #expect(throws: BackplaneError.self) { try await exchange.value }
        #expect(error?.code == .networkLimited && sent.all.count == 2)
        #expect(limits.statistics.first?.refused == 1)
    }

    @Test func `a redirect gives its place back before it is followed`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1, waiting: 0)]
        let network = network(limits) { request in
            request.url.hasSuffix("/old")
                ? HTTPResponse(status: 302, headers: ["Location": "/new"], body: [1]) : HTTPResponse(status: 200)
        }
        var options = HTTPOptions()
        options.redirects = 1
        #expect(try await network.send(get("/old"), options).status == 200)
        #expect(sent.all == ["/old", "/new"] && limits.statistics.first?.running == 0)
    }

    @Test func `no answer within a time limit is a failure, and a cancelled request is none`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(breaker: HostLimits.Breaker(failures: 1))]
        let network = network(limits) { _ in
            try await TestGate().pass()
            return HTTPResponse(status: 200)
        }
        let cancelled = send("/cancelled", on: network)
        _ = try await sent.first(1)
        cancelled.cancel()
        await #expect(throws: (any Error).self) { try await cancelled.value }
        await eventually { limits.statistics.first?.running == 0 }
        #expect(limits.statistics.first?.breaker == "closed")
        var options = HTTPOptions()
        options.retry = RetryPolicy(attempts: 1)
        options.retry?.attemptTimeout = .seconds(5)
        let late = Task { [options] in try await network.send(get("/late"), options) }
        _ = try await sent.first(2)
        try await clock.expire(.seconds(5))
        await #expect(throws: BackplaneError.self) { try await late.value }
        await eventually { limits.statistics.first?.running == 0 }
        #expect(limits.statistics.first?.breaker == "open")
    }

    @Test func `other limits keep what runs, and the state of the breaker`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1, waiting: 0)]
        let network = network(limits) { HTTPResponse(status: $0.url.hasSuffix("/fails") ? 500 : 200, body: [1]) }
        let first = try await network.open(get())
        let breaker = HostLimits.Breaker(failures: 1, openFor: .seconds(60))
        limits.follow(["books.test": HostLimits(concurrent: 2, waiting: 0, breaker: breaker)])
        let second = try await network.open(get())
        #expect(await !isFree(network, get()))
        second.body.cancel()
        _ = try await network.send(get("/fails"))
        #expect(limits.statistics.first?.breaker == "open" && limits.statistics.first?.running == 1)
        limits.follow(["*": HostLimits(breaker: breaker)])
        #expect(await !isFree(network, get()))
        limits.follow([:])
        #expect(await isFree(network, get()))
        first.body.cancel()
        #expect(limits.statistics.first?.running == 0)
    }

    @Test func `other limits admit those that wait`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1)], network = network(limits)
        let held = try await network.open(get("/held")), exchange = send("/next", on: network)
        await waiting(1, in: limits)
        limits.follow([:])
        #expect(try await exchange.value.status == 200)
        held.body.cancel()
    }

    @Test func `the memory for hosts that are no longer asked is bounded`() async throws {
        let limits: NetworkLimits = ["*": HostLimits(concurrent: 1, perSecond: 0.001, breaker: HostLimits.Breaker())]
        let network = network(limits), held = try await network.open(get(host: "held.test"))
        for number in 1...3_000 { _ = try await network.send(get(host: "host\(number).test")) }
        let statistics = limits.statistics
        #expect(statistics.count <= 1_000 && statistics.contains { $0.host == "held.test:80" && $0.running == 1 })
        held.body.cancel()
    }

    private static func manifest(_ limits: [String: HostLimits]) -> Manifest {
        Manifest(plugins: [], managers: [:], network: NetworkSettings(limits: limits))
    }

    @Test func `a host has the limits of its manifest, and keeps their state with another`() async throws {
        let breaker = HostLimits.Breaker(failures: 1)
        let manifest = Self.manifest(["books.test": HostLimits(concurrent: 1, waiting: 0, breaker: breaker)])
        let executor = executor { HTTPResponse(status: $0.url.hasSuffix("/fails") ? 502 : 200, body: [1]) }
        try await PluginHost.running(manifest, executors: [executor]) { host in
            let first = try await host.network.open(get())
            #expect(await !isFree(host.network, get()))
            try await host.apply(Self.manifest(["*": HostLimits(concurrent: 2, waiting: 0, breaker: breaker)]))
            #expect(await isFree(host.network, get("/fails")))
            try await host.apply(Self.manifest(["books.test": HostLimits(concurrent: 3, breaker: breaker)]))
            #expect(await !isFree(host.network, get()))
            let limits = host.limits
            #expect(limits.map(\.host) == ["books.test:80"] && limits.map(\.running) == [1])
            #expect(limits.map(\.breaker) == ["open"] && limits.map(\.refused) == [2])
            first.body.cancel()
        }
    }

    @Test func `an executor of a plugin has the limits for what it sends, and not for what it serves`() async throws {
        let network = Mutex<HTTPPipeline?>(nil)
        let engine = MemoryExecutor { request, _ in
            guard let network = network.withLock(\.self) else { throw BackplaneError(.networkRefused, "not yet") }
            return try await network.open(request)
        }
        let settings = NetworkSettings(
            executors: ["relay": "Relay"], limits: ["books.test": HostLimits(concurrent: 1, waiting: 0)])
        try await RelayHost.with(engine, own: [executor()], network: settings) { relay in
            network.withLock { $0 = relay.host.network }
            var options = HTTPOptions()
            options.executor = "relay"
            let response = try await relay.context.http.send(get("/a"), relay.context.begin(), options)
            #expect(response.status == 200 && sent.all == ["/a"])
            #expect(relay.host.limits.map(\.refused) == [0])
        }
    }
}
