import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Testing

/// Observers of all loads of a client and of an endpoint: each step, in order.
@Suite(.timeLimit(.minutes(5)))
struct LoadObserverTests {
    /// Returns an observer that records the steps but for progress, of which it records the received bytes.
    private func observer(
        _ name: String, _ steps: Recording<String>, _ received: Recording<Int64>
    ) -> @Sendable (LoadEvent) -> Void {
        { event in
            switch event {
            case .started: steps.add("\(name) started")
            case .attempted(let attempt):
                steps.add("\(name) attempt \(attempt.number) \(attempt.status.map(String.init) ?? "none")")
            case .headed(let head): steps.add("\(name) head \(head.status) \(head.headers["X-Shelf"] ?? "")")
            case .progress(let progress): received.add(progress.received)
            case .succeeded: steps.add("\(name) succeeded")
            case .failed(let error): steps.add("\(name) \(error.code)")
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
        let expected = ["started", "attempt 1 503", "attempt 2 200", "head 200 7", "succeeded"].flatMap {
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
                "all started", "all attempt 1 404", "all head 404 ", "all network.status", "all started",
                "all network.invalid-request",
            ])
    }
}
