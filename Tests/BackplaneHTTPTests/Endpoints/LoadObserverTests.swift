import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Testing

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
