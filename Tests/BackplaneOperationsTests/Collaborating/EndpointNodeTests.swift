import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneOperations
import BackplaneOperationsNetwork
import BackplaneTestKit
import BackplaneURLSession
import Testing

/// Nodes that load endpoints.
@Suite(.timeLimit(.minutes(2)))
struct EndpointNodeTests {
    @Test func `handlers are given the status of the response`() async throws {
        let server = try TestServer { request, connection in
            connection.answer(request.target == "/books" ? "201 Created" : "404 Not Found", body: Array("[]".utf8))
        }
        let http = HTTPClient([URLSessionExecutor()]).relative(to: server.url()), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.load("books", Endpoint<[String]>("GET", "books"), on: http, Call())
        graph.onSuccess(of: books) { books, status in log.add("\(books.count) \(status.code ?? 0)") }
        let missing = graph.load("missing", after: books, on: http, Call()) { _ in
            Endpoint<[String]>("GET", "missing")
        }
        graph.onFailure(of: missing) { error, status in log.add("\(error.code) \(status.code ?? 0)") }
        _ = try await graph.build(returning: books).start().value
        #expect(log.all == ["0 201", "network.status 404"])
    }

    @Test func `handlers are given the status of an error that the client decodes, and of the last response`()
        async throws
    {
        struct Refusal: ComponentError, Decodable {
            var code, message: String
        }
        let asked = Recording<String>()
        let server = try TestServer { request, connection in
            asked.add(request.target)
            let isFirst = asked.all == ["/loan", "/again"]
            connection.answer(
                isFirst ? "200 OK" : "409 Conflict", [("Content-Type", "application/json")],
                body: Array((isFirst ? "[]" : #"{"code": "loan.taken", "message": "it is lent"}"#).utf8))
            connection.close()
        }
        var http = HTTPClient([URLSessionExecutor()]).relative(to: server.url())
        http.defaults.failure = .decoded(Refusal.self)
        let log = Recording<String>()
        var again = Endpoint<[String]>("GET", "again")
        again.retry = RetryPolicy(attempts: 2)
        again.verdict = { _, _ in .retry("not yet") }
        for endpoint in [Endpoint<[String]>("GET", "loan"), again] {
            var graph = GraphBuilder("loan")
            let loan = graph.load("loan", endpoint, on: http, Call())
            graph.onFailure(of: loan) { error, status in log.add("\(error.failure?.code ?? "-") \(status.code ?? 0)") }
            let run = try graph.build(returning: loan).start()
            await #expect(throws: BackplaneError.self) { try await run.value }
        }
        #expect(log.all == ["loan.taken 409", "loan.taken 409"])
        #expect(asked.all == ["/loan", "/again", "/again"])
    }
}
