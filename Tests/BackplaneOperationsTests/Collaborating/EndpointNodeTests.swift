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
    @Test func `a program loads endpoints without a call, and handlers are given the status of the response`()
        async throws
    {
        let server = try TestServer { request, connection in
            connection.answer(request.target == "/books" ? "201 Created" : "404 Not Found", body: Array("[]".utf8))
        }
        let http = HTTPClient([URLSessionExecutor()]).relative(to: server.url()), log = Recording<String>()
        var graph = GraphBuilder("shelf")
        let books = graph.load("books", Endpoint<[String]>("GET", "books"), on: http)
        graph.onSuccess(of: books) { books, status in log.add("\(books.count) \(status.code ?? 0)") }
        let missing = graph.load("missing", after: books, on: http) { _ in
            Endpoint<[String]>("GET", "missing")
        }
        graph.onFailure(of: missing) { error, status in log.add("\(error.code) \(status.code ?? 0)") }
        _ = try await graph.build(returning: books).start().value
        #expect(log.all == ["0 201", "network.status 404"])
    }
}
