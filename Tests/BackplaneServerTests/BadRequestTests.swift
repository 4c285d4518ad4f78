#if Engines
import Backplane
import BackplaneHost
import BackplaneHummingbird
import BackplaneRoutes
import BackplaneTestKit
import Foundation
import Glibc
import Synchronization
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Requests that no client should send` {
    /// Runs a server of ``TriedRoutes``.
    private func serve(
        limits: ServerLimits = ServerLimits(), _ body: (_ port: UInt16) async throws -> Void
    ) async throws {
        let manifest = Manifest(plugins: [], managers: ["Tried": ManagerDefinition(className: "TriedRoutes")])
        try await PluginHost.running(manifest, [TriedPlugin.self], executors: []) {
            $0.stopLimit = .seconds(1)
        } _: { host in
            let settings = ServerSettings(listen: "127.0.0.1:0", limits: limits)
            try await HostServer.running(host, settings) { port, _ in try await body(port) }
        }
    }

    private func expectServing(_ port: UInt16, _ location: SourceLocation = #_sourceLocation) async throws {
        let answer = try await ServerConnection(port: port).get("/items/7")
        #expect(answer.status == 200 && answer.text == "7" && answer.isWhole, sourceLocation: location)
    }

    // MARK: Framing

    /// A request of which two readers could see different ends.
    struct Doubtful: CustomTestStringConvertible, Sendable {
        let name: String
        /// The fields, and the body after an empty line.
        let rest: String
        var testDescription: String { name }

        init(_ name: String, _ rest: String) { (self.name, self.rest) = (name, rest) }

        static let all = [
            Doubtful("two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"),
            Doubtful("a repeated length", "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
            Doubtful("a list of lengths", "Content-Length: 3, 3\r\n\r\nabc"),
            Doubtful("an empty length", "Content-Length:\r\n\r\n"),
            Doubtful("a signed length", "Content-Length: +3\r\n\r\nabc"),
            Doubtful("a negative length", "Content-Length: -3\r\n\r\nabc"),
            Doubtful("a length beyond all numbers", "Content-Length: 99999999999999999999\r\n\r\nabc"),
            Doubtful("a length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            Doubtful("chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
            Doubtful("an unknown coding", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
            Doubtful("a coding after chunks", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
            Doubtful("a blank before the colon", "Content-Length : 3\r\n\r\nabc"),
            Doubtful("no colon", "Content-Length 3\r\n\r\n"),
            Doubtful("a bare line feed", "X-Other: 1\nContent-Length: 3\r\n\r\nabc"),
            Doubtful("a bare carriage return", "X-Other: 1\rContent-Length: 3\r\n\r\nabc"),
            Doubtful("a folded field", "X-Other: 1\r\n Content-Length: 3\r\n\r\nabc"),
            Doubtful("a zero in a field", "X-Other: a\0b\r\nContent-Length: 3\r\n\r\nabc"),
            Doubtful("a chunk size that is no number", chunked("zz\r\nabc\r\n0\r\n\r\n")),
            Doubtful("a negative chunk size", chunked("-3\r\nabc\r\n0\r\n\r\n")),
            Doubtful("a chunk size with a prefix", chunked("0x3\r\nabc\r\n0\r\n\r\n")),
            Doubtful("a chunk size beyond all numbers", chunked("FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n")),
            Doubtful("a chunk that is longer than its size", chunked("2\r\nabc\r\n0\r\n\r\n")),
            Doubtful("a chunk size that ends with a bare line feed", chunked("3\nabc\r\n0\r\n\r\n")),
        ]

        private static func chunked(_ body: String) -> String { "Transfer-Encoding: chunked\r\n\r\n" + body }
    }

    @Test(arguments: Doubtful.all)
    func `a request whose end is doubtful is refused, and its connection closed`(request: Doubtful) async throws {
        let id = UUID().uuidString
        try await serve { port in
            let client = try ServerConnection(port: port)
            try await client.send("POST /items/\(id) HTTP/1.1\r\nHost: localhost\r\n\(request.rest)")
            #expect(try await client.answer()?.status == 400)
            #expect(try await client.hasEnded())
            try await expectServing(port)
        }
        #expect(!TriedRoutes.calls.all.contains(id))
    }

    @Test func `a megabyte of header fields is refused, and its connection closed`() async throws {
        let id = UUID().uuidString
        let long = "X-Other: \(String(repeating: "x", count: 1 << 20))\r\n"
        let many = String(repeating: "X-Other: \(String(repeating: "x", count: 100))\r\n", count: 10_000)
        try await serve { port in
            for fields in [long, many] {
                let client = try ServerConnection(port: port)
                try await client.send("POST /items/\(id) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
                let status = try #require(try await client.answer()?.status)
                #expect([400, 431].contains(status))
                #expect(try await client.hasEnded())
                try await expectServing(port)
            }
        }
        #expect(!TriedRoutes.calls.all.contains(id))
    }

    @Test func `what follows a body is another request`() async throws {
        let id = UUID().uuidString
        try await serve { port in
            let client = try ServerConnection(port: port)
            let head = "POST /items/\(id) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n"
            try await client.send(head + "abc" + head + "abcdef\r\n\r\n")
            for _ in 0..<2 { #expect(try await client.answer()?.text == "3") }
            #expect(try await client.answer()?.status == 400)
            #expect(try await client.hasEnded())
            try await expectServing(port)
        }
        #expect(TriedRoutes.calls.all.filter { $0 == id }.count == 2)
    }

    @Test(arguments: ["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\nA\r\nabc"], [true, false])
    func `a request whose body breaks off reaches no handler`(rest: String, isClosed: Bool) async throws {
        let id = UUID().uuidString
        try await serve { port in
            let client = try ServerConnection(port: port)
            try await client.send("POST /items/\(id) HTTP/1.1\r\nHost: localhost\r\n\(rest)")
            try await expectServing(port)
            if isClosed {
                try await client.close()
            } else {
                try await client.finish()
                if let answer = try await client.answer() { #expect(answer.status == 400) }
                #expect(try await client.hasEnded())
            }
            try await expectServing(port)
        }
        // The server has stopped, and so has every request.
        #expect(!TriedRoutes.calls.all.contains(id))
    }

    // MARK: Clients that wait

    @Test func `a client that stops reading holds up its stream alone, and a stop ends it`() async throws {
        let limit = 64 << 20
        try await serve { port in
            let client = try ServerConnection(port: port, receiving: 64 << 10)
            #expect(try await client.open("/endless").status == 200)
            var sent = -1
            await eventually { TriedRoutes.sent.load(ordering: .relaxed) > 0 }
            while sent != TriedRoutes.sent.load(ordering: .relaxed), sent < limit {
                sent = TriedRoutes.sent.load(ordering: .relaxed)
                for _ in 0..<50 { try await expectServing(port) }
            }
            #expect(sent < limit)
            #expect(TriedRoutes.endless.load(ordering: .relaxed) == 1)
        }
        #expect(TriedRoutes.endless.load(ordering: .relaxed) == 0)
    }

    @Test func `idle connections hold up nothing`() async throws {
        let count = Nightly.count(1_000, night: 10_000)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let before = limit, needed = rlim_t(2 * count + 500)
        limit.rlim_cur = min(max(needed, limit.rlim_cur), limit.rlim_max)
        guard limit.rlim_cur >= needed, setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            try Test.cancel("this process may not open \(needed) files")
        }
        defer {
            var before = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
        }
        try await serve { port in
            let idle = try (0..<count).map { _ in try ServerConnection(port: port) }
            try await expectServing(port)
            let used = try ServerConnection(port: port)
            for _ in 0..<100 { #expect(try await used.get("/items/7").status == 200) }
            for client in [idle[0], idle[count / 2], idle[count - 1]] {
                #expect(try await client.get("/items/8").text == "8")
            }
        }
    }

    // MARK: Handlers

    // MARK: Paths

    @Test(
        arguments: [
            ("/items/7", 200, "7"), ("/items/a%2Fb", 200, "a/b"), ("/items/%C3%A9%20", 200, "é "),
            ("/items/..", 400, nil), ("/items/%2e%2E", 400, nil), ("/items/.", 400, nil), ("/../items/7", 400, nil),
            ("/items/..%2Fb", 400, nil), ("/items/a%2F..%2Fb", 400, nil), ("/items/a%00b", 400, nil),
            ("/items/%FF", 400, nil), ("/items/%C0%AF", 400, nil), ("/items/%ED%A0%80", 400, nil),
            ("//items/7", 404, nil), ("/items//7", 404, nil),
            ("/files/a/b.txt", 200, "a/b.txt"), ("/files/a/..b/c", 200, "a/..b/c"),
            ("/files/a/../b", 400, nil), ("/files/../../etc/passwd", 400, nil),
            ("/files/..%2f..%2fetc%2fpasswd", 400, nil), ("/files/%2e%2e/%2e%2e/etc/passwd", 400, nil),
            ("/files/a%2Fb", 404, nil), ("/files/%2Fetc/passwd", 404, nil),
            ("/search?q=%C3%A9", 200, "é"), ("/search?q=../a%2Fb", 200, "../a/b"), ("/search?q=%FF", 400, nil),
            ("/search?q=%C0%AF", 400, nil), ("/search?%FF=1", 400, nil),
        ] as [(String, Int, String?)])
    func `paths and queries are decoded once, or refused`(path: String, status: Int, text: String?) async throws {
        try await serve { port in
            let client = try ServerConnection(port: port), answer = try await client.get(path)
            #expect(answer.status == status, "\(answer.text)")
            if let text { #expect(answer.text == text) }
            try await expectServing(port)
        }
    }

    @Test func `bytes that are not UTF-8 are refused`() async throws {
        try await serve { port in
            let client = try ServerConnection(port: port)
            let bytes = Array("GET /items/".utf8) + [0xC3, 0x28] + Array(" HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            try await client.send(bytes)
            #expect(try await client.answer()?.status == 400)
            try await expectServing(port)
        }
    }
}

private struct TriedPlugin: Plugin {
    static let id = "org.backplane.tests.tried-routes"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(TriedRoutes.self) }
}

/// Routes that note what reaches them.
private final class TriedRoutes: RouteManager {
    /// The identifiers of the requests that reached a handler.
    static let calls = Recording<String>()
    /// The number of bytes that endless answers have sent, and the number of those that are open.
    static let sent = Atomic(0), endless = Atomic(0)

    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<TriedRoutes>) {
        routes.get("/items/:id") { _, request, _ in try request.parameter("id") as String }
        routes.post("/items/:id") { _, request, _ in
            TriedRoutes.calls.add(try request.parameter("id"))
            return "\(request.body?.count ?? 0)"
        }
        routes.get("/files/*name") { _, request, _ in try request.parameter("name") as String }
        routes.get("/search") { _, request, _ in try request.query("q", default: "") }
        routes.stream("/endless") { _, _, _ in
            RouteStream { body in
                TriedRoutes.endless.add(1, ordering: .relaxed)
                defer { TriedRoutes.endless.subtract(1, ordering: .relaxed) }
                let piece = [UInt8](repeating: 0x78, count: 64 << 10)
                while true {
                    try await body.send(piece)
                    TriedRoutes.sent.add(piece.count, ordering: .relaxed)
                }
            }
        }
    }
}
#endif
