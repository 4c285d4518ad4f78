import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import BackplaneTestKit
import Testing

/// A manager with routes in a host, called as a server calls it.
@Suite(.timeLimit(.minutes(2)))
struct RouteManagerTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    private func run(_ lanes: LaneRule, _ body: (Remote<HTTPRoutes>, TestHost) async throws -> Void) async throws {
        try await TestHost.run("ShelfRoutes", plugins: [ShelfPlugin.self], lanes: lanes) { host in
            try await body(try await host.manager("ShelfRoutes", as: HTTPRoutes.self), host)
        }
    }

    /// Returns the parts of an answer, such as `200 text/csv`, `body abc` and `event 7 abc`.
    private func parts(_ routes: Remote<HTTPRoutes>, _ request: RouteRequest) async throws -> [String] {
        var parts: [String] = []
        for try await part in routes.stream(request) {
            switch part {
            case .head(let head): parts.append("\(head.status) \(head.headers["Content-Type"] ?? "")")
            case .body(let bytes): parts.append("body \(String(decoding: bytes, as: UTF8.self))")
            case .event(let event): parts.append("event \(event.id) \(event.data)")
            }
        }
        return parts
    }

    @Test(arguments: lanes)
    func `a route answers`(lanes: LaneRule) async throws {
        try await run(lanes) { routes, _ in
            let found = try await routes.answer(RouteRequest("GET /books/:id", parameters: ["id": "7"]))
            #expect(found.status == 200)
            #expect(String(decoding: found.body, as: UTF8.self) == #"{"id":7}"#)
            let problem = try await routes.answer(RouteRequest("GET /books/:id", parameters: ["id": "x"]))
            #expect(problem.status == 400)
            #expect(problem.headers["Content-Type"] == "application/problem+json")
            let bytes = Array(#"{"id":8}"#.utf8)
            let added = try await routes.answer(RouteRequest("POST /books", body: bytes))
            #expect(added.status == 201)
            #expect(added.headers["Location"] == "/books/8")
        }
    }

    @Test(arguments: lanes)
    func `an error that is no problem is that of the call`(lanes: LaneRule) async throws {
        try await run(lanes) { routes, _ in
            let failure = await #expect(throws: BackplaneError.self) {
                try await routes.answer(RouteRequest("GET /failure"))
            }
            #expect(failure?.code == .componentFailed)
            let unknown = await #expect(throws: BackplaneError.self) {
                try await routes.answer(RouteRequest("GET /nothing"))
            }
            #expect(unknown?.code == .routeUnknown)
        }
    }

    @Test(arguments: lanes)
    func `a stream has a head and pieces`(lanes: LaneRule) async throws {
        try await run(lanes) { routes, _ in
            #expect(try await parts(routes, RouteRequest("GET /books.csv")) == ["200 text/csv", "body 1", "body 2"])
            let problem = try await parts(routes, RouteRequest("GET /books.csv", query: "from=x"))
            #expect(problem.first == "400 application/problem+json")
            #expect(problem.count == 2)
            let secret = RouteRequest("GET /secret/changes")
            #expect(try await parts(routes, secret).first == "401 application/problem+json")
        }
    }

    @Test(arguments: lanes)
    func `events repeat the last identifier, and continue after it`(lanes: LaneRule) async throws {
        try await run(lanes) { routes, _ in
            let first = try await parts(routes, RouteRequest("GET /changes"))
            #expect(first == ["200 text/event-stream", "event 1 a", "event 1 b", "event 2 c"])
            let later = try await parts(routes, RouteRequest("GET /changes", headers: ["Last-Event-ID": "1"]))
            #expect(later == ["200 text/event-stream", "event 2 c"])
        }
    }

    @Test(arguments: lanes)
    func `a resumed answer has no second head, and bytes cannot be resumed`(lanes: LaneRule) async throws {
        try await run(lanes) { routes, _ in
            let event = RoutePart.event(ServerEvent(data: "a", id: "1"))
            let events = RouteRequest("GET /changes").resuming(after: event)
            let continued = try await parts(routes, events)
            #expect(continued == ["event 2 c"])
            let bytes = RouteRequest("GET /books.csv").resuming(after: .body([1]))
            let thrown = await #expect(throws: BackplaneError.self) { try await parts(routes, bytes) }
            #expect(thrown?.code == .routeInterrupted)
        }
    }

    @Test func `the class lists its routes without an instance`() throws {
        let annotation = try RouteAnnotation(json: try #require(ShelfRoutes.annotation))
        #expect(
            annotation.routes.map { "\($0.name) \($0.kind)" } == [
                "GET /books/:id answer", "POST /books answer", "GET /failure answer", "GET /books.csv stream",
                "GET /changes events", "GET /secret/changes events",
            ])
        #expect(annotation.problems.isEmpty)
    }
}

private struct ShelfPlugin: Plugin {
    static let id = "org.example.shelf-routes"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(ShelfRoutes.self) }
}

private final class ShelfRoutes: RouteManager {
    private struct Book: Codable, Sendable {
        var id: Int
    }
    private struct Failure: Error {}

    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<ShelfRoutes>) {
        routes.get("/books/:id") { _, request, _ in Book(id: try request.parameter("id")) }
        routes.post("/books") { _, request, _ in
            let book = try request.body(as: Book.self)
            var response = try RouteResponse.json(book, status: 201)
            response.headers["Location"] = "/books/\(book.id)"
            return response
        }
        routes.get("/failure") { _, _, _ -> Nothing in throw Failure() }
        routes.stream("/books.csv") { _, request, _ in
            let first = try request.query("from", default: 1)
            return RouteStream(type: "text/csv") { body in
                for number in first...2 { try await body.send("\(number)") }
            }
        }
        routes.events("/changes") { me, request, _ in me.changes(after: request.lastEventID) }
        routes.group("/secret", .bearer { _, _, _ in nil }) { group in
            group.events("/changes") { me, _, _ in me.changes(after: nil) }
        }
    }

    private func changes(after last: String?) -> AsyncStream<ServerEvent> {
        AsyncStream { events in
            if last == nil {
                events.yield(ServerEvent(data: "a", id: "1"))
                events.yield(ServerEvent(data: "b"))
            }
            events.yield(ServerEvent(data: "c", id: "2"))
            events.finish()
        }
    }
}
