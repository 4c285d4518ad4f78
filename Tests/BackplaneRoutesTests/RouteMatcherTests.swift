import BackplaneNetwork
import BackplaneRoutes
import Testing

@Suite struct RouteMatcherTests {
    private static let matcher = RouteMatcher([
        .init("shelf", .of("GET /", "GET /books", "POST /books", "GET /books/:id", "GET /books/new")),
        .init("files", .of("GET /files/*path", "GET /:anything/:else", "GET /books/new/pages")),
        .init("api", prefix: "/api", .of("GET /", "DELETE /books/:id", "GET /*rest")),
        .init("other", .of("DELETE /books/:name")),
    ])

    @Test(arguments: [
        ("GET", "/", "shelf GET /"),
        ("GET", "/books", "shelf GET /books"),
        ("GET", "/books/", "shelf GET /books"),
        ("POST", "/books", "shelf POST /books"),
        ("HEAD", "/books", "shelf GET /books"),
        ("GET", "/books/7", "shelf GET /books/:id [id=7]"),
        ("GET", "/books/new", "shelf GET /books/new"),
        ("DELETE", "/books/new", "other DELETE /books/:name [name=new]"),
        ("GET", "/books/new/pages", "files GET /books/new/pages"),
        ("GET", "/papers/7", "files GET /:anything/:else [anything=papers else=7]"),
        ("GET", "/files/a", "files GET /files/*path [path=a]"),
        ("GET", "/files/a/b.txt", "files GET /files/*path [path=a/b.txt]"),
        ("GET", "/api", "api GET /"),
        ("GET", "/api/x/y/z", "api GET /*rest [rest=x/y/z]"),
        ("DELETE", "/api/books/7", "api DELETE /books/:id [id=7]"),
    ])
    func `a request has the most specific route of its method`(method: String, path: String, expected: String) {
        #expect(Self.matcher.match(method, path).summary == expected)
    }

    @Test(arguments: [
        ("/books/moby%20dick", "moby dick"), ("/books/a%2Fb", "a/b"), ("/books/caf%C3%A9", "café"),
        ("/books/café", "café"), ("/books/a+b", "a+b"), ("/books/%zz", "%zz"), ("/books/..a", "..a"),
    ])
    func `parameters arrive decoded`(path: String, id: String) {
        #expect(Self.matcher.match("GET", path).summary == "shelf GET /books/:id [id=\(id)]")
    }

    @Test(arguments: [
        "/books/..", "/../books", "/books/.", "/books/%2e%2e", "/books/..%2Fsecret", "/files/a/../b", "/books/%ff",
        "/books/%C3", "/books/a%00b", "/books/\u{FFFD}", "*", "books", "",
    ])
    func `a malformed path is refused`(path: String) {
        #expect(Self.matcher.match("GET", path).summary == "400")
    }

    @Test(arguments: [
        "/nothing", "/books/7/8/9", "//books", "/books//", "/files", "/files/a%2Fb/c",
    ])
    func `a path without a route is not found`(path: String) {
        #expect(Self.matcher.match("GET", path).summary == "404")
    }

    @Test(arguments: [("/books", "GET, HEAD, POST"), ("/books/7", "DELETE, GET, HEAD"), ("/files/a/b/c", "GET, HEAD")])
    func `a method without a route is not allowed, and the others are listed`(path: String, methods: String) {
        let problem = Self.matcher.match("PUT", path).problem
        #expect(problem?.status == 405)
        #expect(problem?.headers["Allow"] == methods)
    }

    @Test(arguments: [
        ("GET /books/:id", "GET /books/:name", true), ("GET /*rest", "GET /*path", true), ("GET /", "GET /", true),
        ("GET /books/:id", "PUT /books/:id", false), ("GET /books/:id", "GET /books/new", false),
        ("GET /books/:id", "GET /books/*id", false),
    ])
    func `routes of one method and equivalent patterns clash`(one: String, other: String, clash: Bool) {
        let matcher = RouteMatcher([.init("A", .of(one)), .init("B", .of(other))])
        let names = matcher.clashes.map { "\($0.first.owner) \($0.first.route.name), \($0.second.route.name)" }
        #expect(names == (clash ? ["A \(one), \(other)"] : []))
    }

    @Test func `prefixes separate routes, and join others`() {
        func clashes(_ prefix: String, _ one: String, _ other: String) -> Int {
            RouteMatcher([.init("A", prefix: prefix, .of(one)), .init("B", .of(other))]).clashes.count
        }
        #expect(clashes("/api", "GET /books", "GET /books") == 0)
        #expect(clashes("/api", "GET /books", "GET /api/books") == 1)
    }

    @Test func `the preflight requests of a path have several owners and no clash`() {
        let annotation = RouteAnnotation(routes: [.init("GET", "/books")], preflights: ["/books"])
        let other = RouteAnnotation(routes: [.init("POST", "/books")], preflights: ["/books"])
        let matcher = RouteMatcher([.init("A", annotation), .init("B", other)])
        #expect(matcher.clashes.isEmpty)
        #expect(matcher.match("OPTIONS", "/books").summary == "A OPTIONS /books")
    }

    @Test func `a pattern that is not valid is reported`() {
        let matcher = RouteMatcher([.init("A", .of("GET books", "GET /books"))])
        #expect(
            matcher.problems == ["`GET books`: expected a pattern that begins with `/`, found `books`"])
        #expect(matcher.match("GET", "/books").summary == "A GET /books")
    }

    @Test(arguments: [
        ("/", "/"), ("/a", "/a"), ("/:id", "/:"), ("/a/:id/*rest", "/a/:/*"), ("/é", "/é"), ("/a:b", "/a:b"),
    ])
    func `a pattern has a shape without names`(text: String, shape: String) throws {
        #expect(try RoutePattern(text).shape == shape)
    }

    @Test(arguments: [
        "", "a", "/a/", "//", "/a//b", "/:", "/*", "/:a/:a", "/*a/b", "/:a-b", "/a%20b", "/a b", "/a?b", "/a#b", "/..",
    ])
    func `other patterns are refused`(text: String) {
        #expect(throws: RoutePattern.Invalid.self) { try RoutePattern(text) }
    }
}

extension RouteAnnotation {
    /// An annotation that lists routes such as `GET /books/:id`.
    fileprivate static func of(_ routes: String...) -> RouteAnnotation {
        RouteAnnotation(
            routes: routes.map { route in
                let words = route.split(separator: " ").map { String($0) }
                return RouteDescription(words[0], words[1])
            })
    }
}

extension RouteMatcher.Match {
    /// The owner, the route and the parameters; the status of the problem if there is no route.
    fileprivate var summary: String {
        guard case .found(let entry, let parameters) = self else { return "\(problem?.status ?? 0)" }
        let values = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return "\(entry.owner) \(entry.route.name)" + (values.isEmpty ? "" : " [\(values)]")
    }
}
