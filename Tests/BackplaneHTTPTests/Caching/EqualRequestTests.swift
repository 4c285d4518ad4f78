import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneExchange

/// Equal requests in flight: one exchange, whose result everyone gets.
@Suite(.timeLimit(.minutes(5)))
struct EqualRequestTests {
    @Test func `equal loads make one exchange, and each has its own progress`() async throws {
        let server = GatedServer(), network = server.network(),
            http = HTTPClient(network).relative(to: "http://books.test")
        server.gate.close()
        let received = Recording<Int64>()
        let loads = (0..<100).map { _ in
            Endpoint<String>("GET", "list").load(on: http).onProgress { received.add($0.received) }
        }
        try await network.followers(100)
        server.gate.open()
        for load in loads { #expect(try await load.value == "1") }
        #expect(server.count == 1)
        #expect(try await received.first(100).allSatisfy { $0 == 1 })
        #expect(try await http.load(Endpoint<String>("GET", "list")) == "2")
    }

    @Test func `equal loads share what was decoded`() async throws {
        let server = GatedServer { _, number in .text("[\(number)]") }, network = server.network()
        let http = HTTPClient(network).relative(to: "http://books.test"), decoder = CountingDecoder()
        server.gate.close()
        var numbers = Endpoint<[Int]>("GET", "list")
        numbers.decoder = decoder
        let loads = (1...100).map { _ in numbers.load(on: http) }
        try await network.followers(100)
        server.gate.open()
        for load in loads { #expect(try await load.value == [1]) }
        #expect(decoder.count < 100)
    }

    @Test func `one who joins late learns in order what has arrived`() {
        let flight = Flight(), notices = Recording<String>()
        flight.headed(3)
        flight.received(1)
        var late = EqualExchanges.Follower { length in notices.add("length \(length ?? 0)") }
        late.received = { count in notices.add("received \(count)") }
        let place = flight.add(late)
        flight.received(1)
        #expect(place.isBehind && notices.all == [])
        flight.catchUp(late, place.number)
        flight.received(1)
        #expect(notices.all == ["length 3", "received 2", "received 1"])
        // Another attempt follows, and nobody who joins meanwhile waits for a body.
        flight.paused()
        var last = EqualExchanges.Follower { _ in }
        last.paused = { notices.add("paused") }
        flight.catchUp(last, flight.add(last).number)
        #expect(notices.all.last == "paused")
    }

    @Test func `a follower survives the cancellation of the first, and the last one to leave cancels`() async throws {
        let server = GatedServer { _, _ in .text("whale") }, network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        let first = Task { try await network.send(request) }
        try await server.gate.arrivals()
        let second = Task { try await network.send(request) }
        try await network.followers(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let third = Task { try await network.send(request) }
        try await network.followers(2)
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let fourth = Task { try await network.send(request) }
        try await server.gate.arrivals(2)
        server.gate.open()
        #expect(try await fourth.value.body == Array("whale".utf8))
        #expect(server.count == 2)
    }

    @Test func `everyone keeps to their own time limit`() async throws {
        let server = GatedServer(), network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        var hurried = HTTPOptions()
        hurried.totalTimeout = .seconds(5)
        let first = Task { [hurried] in try await network.send(request, hurried) }
        try await server.gate.arrivals()
        let second = Task { try await network.send(request) }
        try await network.followers(2)
        try await server.clock.expire(.seconds(5))
        let late = await #expect(throws: BackplaneError.self) { try await first.value }
        #expect(late?.code == .networkTimeout)
        server.gate.open()
        #expect(try await second.value.body == Array("1".utf8))
        #expect(server.count == 1)
    }

    @Test func `an order that is placed twice is sent once, unless that is allowed`() async throws {
        let server = GatedServer(), http = server.client()
        server.gate.close()
        var order = Endpoint<String>("POST", "orders")
        order.body = .text("whale")
        let first = order.load(on: http)
        try await server.gate.arrivals()
        let error = await http.failure(of: order)
        #expect(error?.code == .networkRedundant && error?.networkNumber == 6)
        var other = order
        other.body = .text("squid")
        order.options.equalRequests = .allow
        let second = order.load(on: http), third = other.load(on: http)
        try await server.gate.arrivals(3)
        server.gate.open()
        #expect(Set(try await [first.value, second.value, third.value]) == ["1", "2", "3"])
        #expect(try await http.load(other) == "4")
    }

    @Test func `requests of two senders are never equal, and neither are those with other fields or options`()
        async throws
    {
        func login(_ user: String) -> Credential {
            Credential(hosts: ["books.test"], .basic(Login(user: Secret(user), password: "whale")))
        }
        let server = GatedServer { request, _ in .text(request.headers["Authorization"] ?? "nobody") }
        let network = server.network(credentials: Credentials(["ann": login("ann"), "bob": login("bob")]))
        server.gate.close()
        var requests: [(HTTPRequest, HTTPOptions)] = []
        for name in ["ann", "bob", nil] {
            var options = HTTPOptions()
            options.credential = name
            requests.append((HTTPRequest("GET", "http://books.test/"), options))
        }
        let fields: [HTTPHeaders] = [
            ["Authorization": "a"], ["Authorization": "b"], ["Cookie": "a"], ["X-API-Key": "a"],
            ["Accept": "text/html"],
        ]
        for headers in fields {
            requests.append((HTTPRequest("GET", "http://books.test/", headers: headers), HTTPOptions()))
        }
        for change in [{ $0.redirects = 1 }, { $0.maximumBodySize = 100 }] as [(inout HTTPOptions) -> Void] {
            var options = HTTPOptions()
            change(&options)
            requests.append((HTTPRequest("GET", "http://books.test/"), options))
        }
        let exchanges = requests.map { request, options in Task { try await network.send(request, options) } }
        try await server.gate.arrivals(requests.count)
        server.gate.open()
        var texts: [String] = []
        for exchange in exchanges.prefix(3) {
            texts.append(String(decoding: try await exchange.value.body, as: UTF8.self))
        }
        #expect(texts == ["Basic YW5uOndoYWxl", "Basic Ym9iOndoYWxl", "nobody"])
        for exchange in exchanges { _ = try await exchange.value }
        #expect(server.count == requests.count)
    }

    @Test func `streams and requests with a body that is read are never shared`() async throws {
        let server = GatedServer(), network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        var upload = HTTPRequest("PUT", "http://books.test/")
        let exchanges = [
            Task { try await network.open(request) }, Task { try await network.open(request) },
        ]
        var sending: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<2 {
            upload.body = .stream(HTTPBodyStream([1]))
            sending.append(Task { [upload] in try await network.send(upload) })
        }
        try await server.gate.arrivals(4)
        server.gate.open()
        for exchange in exchanges { _ = try await exchange.value.collect() }
        for exchange in sending { _ = try await exchange.value }
        #expect(server.count == 4)
    }

    @Test func `a body that breaks off is loaded again for everyone`() async throws {
        let server = GatedServer { _, number in
            guard number == 1 else { return .text("whole") }
            let pieces = Mutex([[UInt8]("half".utf8)])
            return HTTPStreamedResponse(
                status: 200,
                body: HTTPBodyStream {
                    if let piece = pieces.withLock({ $0.popLast() }) { return piece }
                    throw BackplaneError(.networkFailed, "the connection was closed")
                })
        }
        let network = server.network(), http = HTTPClient(network).relative(to: "http://books.test")
        server.gate.close()
        var endpoint = Endpoint<String>("GET", "list")
        endpoint.retry = .immediate
        let loads = [endpoint.load(on: http), endpoint.load(on: http)]
        try await network.followers(2)
        server.gate.open()
        for load in loads { #expect(try await load.value == "whole") }
        #expect(server.count == 2)
    }

    @Test func `cookies are only for the one who has made the exchange`() async throws {
        let server = GatedServer { _, _ in .text("whale", 200, ["Set-Cookie": "id=1"]) }, network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        let exchanges = [Task { try await network.send(request) }, Task { try await network.send(request) }]
        try await network.followers(2)
        server.gate.open()
        var cookies: [String?] = []
        for exchange in exchanges { cookies.append(try await exchange.value.headers["Set-Cookie"]) }
        #expect(Set(cookies) == [nil, "id=1"] && server.count == 1)
    }

    @Test func `an error of the exchange is everyone's`() async throws {
        let server = GatedServer { _, _ in throw BackplaneError(.networkFailed, "the connection was refused") }
        let network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        let first = Task { try await network.send(request) }
        try await server.gate.arrivals()
        let second = Task { try await network.send(request) }
        try await network.followers(2)
        server.gate.open()
        for exchange in [first, second] {
            let error = await #expect(throws: BackplaneError.self) { try await exchange.value }
            #expect(error?.code == .networkFailed)
        }
        #expect(server.count == 1)
    }
}

extension HTTPPipeline {
    /// Waits until a number of requests follow exchanges in flight.
    func followers(_ count: Int) async throws {
        while equal.followers != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
