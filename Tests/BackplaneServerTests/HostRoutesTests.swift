#if Engines
import Backplane
import BackplaneHost
import BackplaneHummingbird
import BackplaneTestKit
import Foundation
import Hummingbird
import NIOCore
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Routes of plugins in an application` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]
    private static let json = ["Content-Type": "application/json"]

    /// Runs an application with routes of its own.
    private func runMixed(at prefix: String = "/", _ body: (RoutedHost) async throws -> Void) async throws {
        func application(_ routes: HostRoutes<BasicRequestContext>) -> RouterResponder<BasicRequestContext> {
            let router = Router()
            router.add(middleware: routes)
            router.get("/about") { _, _ in "about" }
            router.post("/names/:name") { _, _ in "the application's" }
            return router.buildResponder()
        }
        try await RoutedHost.run(at: prefix, as: application, body)
    }

    private func alone(_ routes: HostRoutes<BasicRequestContext>) -> HostRoutes<BasicRequestContext> { routes }

    // MARK: Answers

    @Test(arguments: lanes)
    func `every method reaches its handler, and every value is an answer`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            let found = try await client.get("/books/7")
            #expect(found.status == 200 && found.text == #"{"id":7}"#)
            #expect(found["content-type"] == "application/json")
            #expect(found["content-length"] == "8")
            let added = try await client.send("POST", "/books", Self.json, body: Array(#"{"id":8}"#.utf8))
            #expect(added.status == 201 && added.text == #"{"id":8}"#)
            #expect(added["location"] == "/books/8")
            #expect(added.fields.filter { $0.name == "content-length" }.map(\.value) == ["8"])
            #expect(added.fields.filter { $0.name == "set-cookie" }.map { $0.value.prefix(3) } == ["a=1", "b=2"])
            let put = try await client.send("PUT", "/books/9", Self.json, body: Array(#"{"id":9}"#.utf8))
            #expect(put.text == #"{"id":9}"#)
            #expect(try await client.send("PATCH", "/books/9").text == "patched 9")
            let deleted = try await client.send("DELETE", "/books/9")
            #expect(deleted.status == 204 && deleted.body.isEmpty && deleted["content-length"] == nil)
            #expect(try await client.send("PURGE", "/books").text == "PURGE")
            #expect(try await client.get("/problem").status == 409)
            let invalid = try await client.send("POST", "/books", Self.json, body: Array(#"{"id":"x"}"#.utf8))
            #expect(invalid.status == 400 && invalid.text.contains(#""id":"expected an integer"#))
        }
    }

    @Test(arguments: lanes)
    func `a handler sees the request as it was sent`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let trace = "0af7651916cd43dd8448eb211c80319c"
            let answer = try await served.connect().wait { socket in
                socket.send(
                    Array(
                        """
                        GET /request/a%20b/c?x=%20y&z HTTP/1.1\r
                        Host: books.example\r
                        X-Twice: 1\r
                        traceparent: 00-\(trace)-b7ad6b7169203331-01\r
                        x-twice: 2\r
                        \r

                        """.utf8))
                return socket.answer()
            }
            let lines = try #require(answer).text.split(separator: "\n").map { String($0) }
            #expect(
                lines == [
                    "GET", "/request/a%20b/c", "x=%20y&z", "a b/c", "1|2", "books.example", "-", trace, "no body",
                ])
        }
    }

    @Test(arguments: lanes)
    func `HEAD is answered as GET is, without the body`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            let head = try await client.send("HEAD", "/books/7")
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head["content-length"] == "8" && head["content-type"] == "application/json")
            let own = try await client.send("HEAD", "/stock")
            #expect(own.status == 200 && own["x-stock"] == "7")
            let unknown = try await client.send("HEAD", "/nothing")
            #expect(unknown.status == 404)
            let empty = try await client.send("HEAD", "/failure")
            #expect(empty.status == 500)
            #expect(try await client.get("/books/7").text == #"{"id":7}"#)
            let stream = try await client.send("HEAD", "/numbers")
            #expect(stream.status == 200 && stream["content-type"] == "text/plain")
            #expect(try await client.hasEnded())
        }
    }

    // MARK: Beside the application's own routes

    @Test func `what no route matches goes on to the application`() async throws {
        try await runMixed { served in
            let client = try served.connect()
            #expect(try await client.get("/books/7").text == #"{"id":7}"#)
            #expect(try await client.get("/about").text == "about")
            #expect(try await client.send("POST", "/names/a").text == "the application's")
            #expect(try await client.get("/nothing").status == 404)
            #expect(try await client.get("/request/%2e%2e").status == 404)
        }
    }

    @Test func `a method that neither has is answered with those that the path has`() async throws {
        try await runMixed { served in
            let client = try served.connect()
            let answer = try await client.send("DELETE", "/names/a")
            #expect(answer.status == 405)
            #expect(answer["allow"] == "GET, HEAD")
            #expect(answer["content-type"] == "application/problem+json")
            #expect(try await client.send("POST", "/books/7").status == 405)
        }
    }

    @Test func `routes are mounted below a path`() async throws {
        for prefix in ["/api", "/api/"] {
            try await runMixed(at: prefix) { served in
                let client = try served.connect()
                #expect(try await client.get("/api/books/7").text == #"{"id":7}"#)
                #expect(try await client.get("/api/request/a").text.contains("/api/request/a"))
                #expect(try await client.get("/books/7").status == 404)
                #expect(try await client.get("/about").text == "about")
            }
        }
    }

    @Test func `only named managers are mounted, and others keep a route that both have`() async throws {
        let managers = ["Desk": "DeskRoutes", "Other": "OtherDeskRoutes"]
        try await RoutedHost.run(managers, only: ["Other", "Nobody"], as: alone) { served in
            let client = try served.connect()
            #expect(try await client.get("/clash").text == "second")
            #expect(try await client.get("/books/7").status == 404)
            let record = try await served.host.log.record("no manager of this name provides HTTPRoutes")
            #expect(record.metadata["name"] == "Nobody")
        }
        try await RoutedHost.run(managers, as: alone) { served in
            let client = try served.connect()
            for _ in 0..<3 { #expect(try await client.get("/clash").text == "first") }
            #expect(try await client.get("/other").text == "other")
            let words = "a route is hidden by another one, which matches the same requests"
            let warnings = served.host.log.records.filter { $0.message == words }
            #expect(warnings.count == 1)
            #expect(warnings.first?.source == "Other")
            #expect(warnings.first?.metadata["otherManager"] == "Desk")
        }
    }

    @Test func `the first request loads the manifest, and starts its manager`() async throws {
        let folder = try TestFolder()
        let options = HostOptions(
            loadFolder: folder.path + "/loads", dataFolder: folder.path + "/data", executors: [], occupationLimit: nil)
        let manifest = Manifest(managers: [
            "Desk": ManagerDefinition(className: "DeskRoutes"),
            "Other": ManagerDefinition(className: "OtherDeskRoutes"),
        ])
        let host = PluginHost(manifest: manifest, plugins: [DeskPlugin.self], options: options)
        try await RoutedApplication.run(HostRoutes<BasicRequestContext>(host)) { port in
            let client = try ServerConnection(port: port)
            #expect(try await client.get("/books/7").text == #"{"id":7}"#)
            #expect(await host.managers.map(\.state.description) == ["ready", "resolved"])
        }
        await host.stop()
    }

    // MARK: The context

    private struct AddressContext: RequestContext, RemoteAddressRequestContext {
        var coreContext: CoreRequestContextStorage
        let remoteAddress: SocketAddress?

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            remoteAddress = source.channel.remoteAddress
        }
    }

    @Test func `a context with an address passes it on`() async throws {
        try await RoutedHost.run(as: { (routes: HostRoutes<AddressContext>) in routes }) { served in
            let lines = try await served.connect().get("/request/a").text.split(separator: "\n")
            #expect(lines.contains { $0.starts(with: "127.0.0.1:") })
        }
    }

    /// A middleware that notes by which path Hummingbird's own would name a request.
    private struct PathNotes: RouterMiddleware {
        typealias Context = BasicRequestContext
        let paths: Recording<String?>

        @concurrent func handle(
            _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
        ) async throws -> Response {
            defer { paths.add(context.endpointPath) }
            return try await next(request, context)
        }
    }

    @Test func `middleware in front sees the pattern of the route`() async throws {
        let paths = Recording<String?>()
        func application(_ routes: HostRoutes<BasicRequestContext>) -> RouterResponder<BasicRequestContext> {
            let router = Router()
            router.add(middleware: PathNotes(paths: paths))
            router.add(middleware: routes)
            return router.buildResponder()
        }
        try await RoutedHost.run(at: "/api", as: application) { served in
            let client = try served.connect()
            for path in ["/api/books/7", "/nothing"] { _ = try await client.get(path) }
        }
        #expect(paths.all == ["/api/books/:id", "NotFound"])
    }

    // MARK: Errors

    @Test(arguments: lanes)
    func `an error of a handler is a problem that only the log explains`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect(), answer = try await client.get("/failure")
            #expect(answer.status == 500)
            #expect(answer["content-type"] == "application/problem+json")
            #expect(!answer.text.contains("planted"))
            let record = try await served.host.log.record("a route failed")
            #expect(record.level == .error)
            #expect(record.source == "Desk")
            #expect(record.metadata["route"] == "GET /failure")
            #expect(record.metadata["error"]?.contains("planted") == true)
            #expect(try await client.get("/books/7").status == 200)
            #expect(served.host.log.records.filter { $0.message == "a route failed" }.count == 1)
        }
    }

    @Test(arguments: ["status", "name", "value"])
    func `a head that cannot be sent is an error of the route`(part: String) async throws {
        try await RoutedHost.run { served in
            let client = try served.connect(), answer = try await client.get("/invalid/\(part)")
            #expect(answer.status == 500)
            #expect(answer["set-cookie"] == nil)
            let record = try await served.host.log.record("a route failed")
            #expect(record.metadata["route"] == "GET /invalid/:part")
            #expect(try await client.get("/books/7").status == 200)
        }
    }

    @Test(arguments: lanes)
    func `a handler that never answers is answered for at the deadline`(lanes: LaneRule) async throws {
        let name = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            async let late = client.get("/deaf/\(name)")
            try await Shared.gate(name).arrivals()
            try await served.host.clock.expire(ServerLimits.patient.timeout)
            #expect(try await late.status == 504)
            #expect(try await client.get("/books/7").status == 200)
            Shared.gate(name).open()
            _ = try await Shared.notes.first { $0 == "\(name) was cancelled" }
        }
    }

    // MARK: Limits

    @Test(arguments: lanes)
    func `requests beyond the limit wait in order, and further ones are refused`(lanes: LaneRule) async throws {
        let name = UUID().uuidString
        let limits = ServerLimits(concurrent: 1, waiting: 2, timeout: ServerLimits.patient.timeout)
        try await RoutedHost.run(limits: limits, lanes: lanes) { served in
            async let first = served.connect().get("/gates/\(name)?1")
            try await Shared.gate(name).arrivals()
            // An encoded call has an alarm of its own.
            let alarms = lanes == .encoded ? 2 : 1
            async let second = served.connect().get("/gates/\(name)?2")
            try await served.host.clock.waiters(alarms + 1, for: limits.timeout)
            async let third = served.connect().get("/gates/\(name)?3")
            try await served.host.clock.waiters(alarms + 2, for: limits.timeout)
            let refused = try await served.connect().get("/books/7")
            #expect(refused.status == 503)
            #expect(refused["retry-after"] == "1")
            Shared.gate(name).open()
            for answer in try await [first, second, third] { #expect(answer.status == 200) }
            #expect(Shared.notes.all.filter { $0.hasPrefix(name) } == (1...3).map { "\(name) \($0)" })
            #expect(try await served.connect().get("/books/7").status == 200)
        }
    }

    @Test func `a request that waits too long is answered at its deadline`() async throws {
        let name = UUID().uuidString
        let limits = ServerLimits(concurrent: 1, timeout: ServerLimits.patient.timeout)
        try await RoutedHost.run(limits: limits) { served in
            // A handler that ended when it is cancelled would leave its place to the second request.
            async let first = served.connect().get("/deaf/\(name)")
            try await Shared.gate(name).arrivals()
            async let second = served.connect().get("/books/7")
            try await served.host.clock.expire(limits.timeout, waiters: 2)
            #expect(try await first.status == 504)
            #expect(try await second.status == 504)
            Shared.gate(name).open()
            await eventually { (try? await served.connect().get("/books/7").status) == 200 }
        }
    }

    @Test func `handlers that never end do not hold up the code that replaces theirs`() async throws {
        let name = UUID().uuidString
        let limits = ServerLimits(concurrent: 1, timeout: ServerLimits.patient.timeout)
        try await RoutedHost.run(limits: limits) { served in
            async let late = served.connect().get("/deaf/\(name)")
            try await Shared.gate(name).arrivals()
            try await served.host.clock.expire(limits.timeout)
            #expect(try await late.status == 504)
            try await served.host.host.reset("Desk")
            #expect(try await served.connect().get("/books/7").status == 200)
            Shared.gate(name).open()
        }
    }

    @Test func `a manager whose handlers block all its threads holds up no other`() async throws {
        let name = UUID().uuidString, count = 2 * max(2, ProcessInfo.processInfo.activeProcessorCount) + 2
        let managers = ["Desk": "DeskRoutes", "Blocked": "BlockedRoutes"]
        try await RoutedHost.run(managers, as: alone) { served in
            let blocked = try (0..<count).map { _ in try served.connect() }
            for client in blocked {
                try await client.send("GET /blocked/\(name) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            }
            defer { for _ in 0..<count { Shared.semaphore(name).signal() } }
            try await Shared.notes.until { $0.count { $0 == "\(name) is blocked" } >= count / 2 - 1 }
            let client = try served.connect()
            for _ in 0..<100 { #expect(try await client.get("/books/7").text == #"{"id":7}"#) }
            for _ in 0..<count { Shared.semaphore(name).signal() }
            for client in blocked { #expect(try await client.answer()?.text == name) }
        }
    }
}
#endif
