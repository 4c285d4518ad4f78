import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Testing

@testable import BackplaneRoutes

@Suite struct RouteTableTests {
    /// A component that records what its handlers and interceptors do.
    private typealias Owner = Recording<String>
    private struct Book: Codable {
        var title: String
    }

    private let owner = Owner()

    private func answer(
        _ request: RouteRequest, _ define: (inout Routes<Owner>) -> Void
    ) async throws -> RouteResponse {
        var routes = Routes<Owner>()
        define(&routes)
        return try await RouteTable(table: routes).answer(owner, request, Call())
    }

    private func mark(_ name: String) -> RouteInterceptor<Owner> {
        .intercepted { owner, request, next, _ in
            owner.add(">\(name)")
            defer { owner.add("<\(name)") }
            var response = try await next(request)
            response.headers.add("Mark", name)
            return response
        }
    }

    // MARK: Answers

    @Test func `a handler's value is JSON, text, nothing or an answer`() async throws {
        func response<Answer: Encodable & Sendable>(_ value: Answer) async throws -> RouteResponse {
            try await answer(RouteRequest("GET /")) { $0.get("/") { _, _, _ in value } }
        }
        let book = try await response(Book(title: "Moby-Dick"))
        #expect(book.headers["Content-Type"] == "application/json")
        #expect(String(decoding: book.body, as: UTF8.self) == #"{"title":"Moby-Dick"}"#)
        let text = try await response("whale")
        #expect(text.headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(String(decoding: text.body, as: UTF8.self) == "whale")
        #expect(try await response(Nothing()).status == 204)
        #expect(try await response(RouteResponse(status: 418)).status == 418)
    }

    @Test func `each method has its own handler`() async throws {
        let verbs = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "REPORT"]
        for verb in verbs {
            let response = try await answer(RouteRequest("\(verb) /")) { routes in
                routes.get("/") { _, _, _ in "GET" }
                routes.post("/") { _, _, _ in "POST" }
                routes.put("/") { _, _, _ in "PUT" }
                routes.patch("/") { _, _, _ in "PATCH" }
                routes.delete("/") { _, _, _ in "DELETE" }
                routes.head("/") { _, _, _ in "HEAD" }
                routes.on("REPORT", "/") { _, _, _ in "REPORT" }
            }
            #expect(String(decoding: response.body, as: UTF8.self) == verb)
        }
    }

    @Test func `an upload reads its body piece by piece`() async throws {
        let response = try await answer(RouteRequest("PUT /", body: [1, 2, 3])) { routes in
            routes.upload("/", method: "PUT") { _, _, body, _ in
                var count = 0
                for try await piece in body { count += piece.count }
                return count
            }
        }
        #expect(String(decoding: response.body, as: UTF8.self) == "3")
    }

    @Test func `a problem is answered, and any other error is the call's`() async throws {
        let problem = try await answer(RouteRequest("GET /")) { routes in
            routes.get("/") { _, _, _ -> Nothing in throw RouteProblem(409, "lent") }
        }
        #expect(problem.status == 409)
        await #expect(throws: BackplaneError.self) {
            try await answer(RouteRequest("GET /")) { routes in
                routes.get("/") { _, _, _ -> Nothing in throw BackplaneError(.callDeadline, "late") }
            }
        }
    }

    @Test(arguments: ["GET /nothing", "POST /", "GET /stream", ""])
    func `a request of another table is unknown`(route: String) async throws {
        let thrown = await #expect(throws: BackplaneError.self) {
            try await answer(RouteRequest(route)) { routes in
                routes.get("/") { _, _, _ in Nothing() }
                routes.stream("/stream") { _, _, _ in RouteStream { _ in } }
            }
        }
        #expect(thrown?.code == .routeUnknown)
    }

    // MARK: Groups

    @Test func `interceptors run around the handler, the outermost first`() async throws {
        let response = try await answer(RouteRequest("GET /a/b/:id", parameters: ["id": "7"])) { routes in
            routes.group("/a", mark("1"), mark("2")) { outer in
                outer.group("/b", mark("3")) { inner in
                    inner.get("/:id") { owner, request, _ in
                        owner.add(try request.parameter("id"))
                        return Nothing()
                    }
                }
                outer.get("/") { _, _, _ in Nothing() }
            }
        }
        #expect(owner.all == [">1", ">2", ">3", "7", "<3", "<2", "<1"])
        #expect(response.headers.values("Mark") == ["3", "2", "1"])
    }

    @Test func `an interceptor changes a request, and answers instead of the handler`() async throws {
        let gate = RouteInterceptor<Owner>.intercepted { _, request, next, _ in
            guard request.headers["Open"] != nil else { return .text("closed", status: 403) }
            var request = request
            request.user = "ann"
            return try await next(request)
        }
        func response(_ headers: HTTPHeaders) async throws -> String {
            let response = try await answer(RouteRequest("GET /", headers: headers)) { routes in
                routes.group("", gate) { $0.get("/") { _, request, _ in request.user ?? "" } }
            }
            return String(decoding: response.body, as: UTF8.self)
        }
        #expect(try await response([:]) == "closed")
        #expect(try await response(["Open": "yes"]) == "ann")
    }

    @Test(arguments: [
        ("Bearer t", 200), ("bearer   t", 200), ("Bearer x", 401), ("Bearer", 401), ("Basic t", 401), (nil, 401),
    ])
    func `a bearer's token is verified`(field: String?, status: Int) async throws {
        var request = RouteRequest("GET /")
        request.headers["Authorization"] = field
        let response = try await answer(request) { routes in
            routes.group("/", .bearer(realm: "books") { _, token, _ in token == "t" ? "ann" : nil }) { group in
                group.get("") { _, request, _ in request.user ?? "" }
            }
        }
        #expect(response.status == status)
        if status == 200 {
            #expect(String(decoding: response.body, as: UTF8.self) == "ann")
        } else {
            #expect(response.headers["WWW-Authenticate"] == #"Bearer realm="books""#)
        }
    }

    @Test(arguments: [
        ("Basic YW5uOmE6Yg==", 200), ("Basic YW5uOmE=", 401), ("Basic YW5u", 401), ("Basic ???", 401),
        ("Basic /w==", 401), (nil, 401),
    ])
    func `a name and a password are verified`(field: String?, status: Int) async throws {
        var request = RouteRequest("GET /")
        request.headers["Authorization"] = field
        let response = try await answer(request) { routes in
            routes.group("/", .basic { _, name, password, _ in name == "ann" && password == "a:b" }) { group in
                group.get("") { _, request, _ in request.user ?? "" }
            }
        }
        #expect(response.status == status)
        #expect((response.headers["WWW-Authenticate"] == nil) == (status == 200))
    }

    @Test(arguments: [(3, 200), (4, 413)])
    func `a body beyond the limit is refused`(count: Int, status: Int) async throws {
        let request = RouteRequest("POST /", body: [UInt8](repeating: 1, count: count))
        let response = try await answer(request) { routes in
            routes.group("/", .limit(body: 3)) { $0.post("/") { _, _, _ in "kept" } }
        }
        #expect(response.status == status)
    }

    private func shared(_ route: String, _ headers: HTTPHeaders) async throws -> RouteResponse {
        try await answer(RouteRequest(route, headers: headers)) { routes in
            routes.group("/books", .cors(origins: ["https://a.test"], exposed: ["Count"]), mark("inner")) { group in
                group.get("") { _, _, _ -> Nothing in throw RouteProblem(404) }
                group.put("") { _, _, _ in Nothing() }
            }
        }
    }

    @Test func `pages of an origin may read answers and problems`() async throws {
        let known = try await shared("GET /books", ["Origin": "https://a.test"])
        #expect(known.status == 404)
        #expect(known.headers["Access-Control-Allow-Origin"] == "https://a.test")
        #expect(known.headers["Access-Control-Expose-Headers"] == "Count")
        #expect(known.headers["Vary"] == "Origin")
        let other = try await shared("PUT /books", ["Origin": "https://b.test"])
        #expect(other.status == 204)
        #expect(other.headers["Access-Control-Allow-Origin"] == nil)
    }

    @Test func `a preflight request is answered without a handler`() async throws {
        let asked: HTTPHeaders = ["Origin": "https://a.test", "Access-Control-Request-Method": "PUT"]
        let known = try await shared("OPTIONS /books", asked)
        #expect(known.status == 204)
        #expect(known.headers["Access-Control-Allow-Methods"] == "PUT")
        #expect(known.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type")
        #expect(owner.all.isEmpty)
        var foreign = asked
        foreign["Origin"] = "https://b.test"
        #expect(try await shared("OPTIONS /books", foreign).headers["Access-Control-Allow-Methods"] == nil)
    }

    // MARK: Annotations

    private func annotation(_ define: (inout Routes<Owner>) -> Void) -> RouteAnnotation {
        var routes = Routes<Owner>()
        define(&routes)
        return RouteAnnotation(of: routes)
    }

    @Test func `an annotation lists the routes`() throws {
        let annotation = annotation { routes in
            routes.get("/books/:id") { _, _, _ in Nothing() }
            routes.stream("/books.csv") { _, _, _ in RouteStream { _ in } }
            routes.events("/changes") { _, _, _ in AsyncStream<ServerEvent> { $0.finish() } }
            routes.events("/numbers") { _, _, _ in AsyncStream<Int> { $0.finish() } }
            routes.group("/shared", .cors(origins: ["*"])) { group in
                group.get("") { _, _, _ in Nothing() }
                group.put("/") { _, _, _ in Nothing() }
            }
        }
        let json = try #require(annotation.json)
        #expect(
            json
                == #"{"preflights":["/shared"],"routes":[{"kind":"answer","method":"GET","path":"/books/:id"},"#
                + #"{"kind":"stream","method":"GET","path":"/books.csv"},"#
                + #"{"kind":"events","method":"GET","path":"/changes"},"#
                + #"{"kind":"events","method":"GET","path":"/numbers"},"#
                + #"{"kind":"answer","method":"GET","path":"/shared"},"#
                + #"{"kind":"answer","method":"PUT","path":"/shared"}]}"#)
        let copy = try RouteAnnotation(json: json)
        #expect(copy.routes == annotation.routes)
        #expect(copy.preflights == ["/shared"])
        #expect(throws: BackplaneError.self) { try RouteAnnotation(json: "[]") }
    }

    @Test func `mistakes are listed, and leave the other routes in the table`() {
        let annotation = annotation { routes in
            routes.get("books") { _, _, _ in Nothing() }
            routes.get("/:id/:id") { _, _, _ in Nothing() }
            routes.on("GET IT", "/") { _, _, _ in Nothing() }
            routes.group("/books") { group in
                group.get("all") { _, _, _ in Nothing() }
                group.get("/:id") { _, _, _ in Nothing() }
                group.get("/:name") { _, _, _ in Nothing() }
            }
            routes.group("/all", .cors(origins: ["*"], allowsCredentials: true)) { _ in }
        }
        #expect(annotation.routes == [RouteDescription("GET", "/books/:id")])
        #expect(
            annotation.problems == [
                "`GET books`: expected a pattern that begins with `/`, found `books`",
                "`GET /:id/:id`: the parameter `id` occurs twice",
                "`GET IT /`: `GET IT` is not a method",
                "`GET all`: expected a pattern that begins with `/`, found `all`",
                "`GET /books/:name` matches the same requests as `GET /books/:id`",
                "the group `/all`: browsers do not send credentials if any origin is allowed; list the origins",
            ])
    }

    @Test func `a route of OPTIONS replaces the one for preflight requests`() async throws {
        let request = RouteRequest("OPTIONS /books")
        let response = try await answer(request) { routes in
            routes.group("/books", .cors(origins: ["*"])) { group in
                group.get("") { _, _, _ in Nothing() }
                group.on("OPTIONS", "") { _, _, _ in "own" }
                group.put("") { _, _, _ in Nothing() }
            }
        }
        #expect(String(decoding: response.body, as: UTF8.self) == "own")
    }
}

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
