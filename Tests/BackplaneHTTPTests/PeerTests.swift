import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

/// Exchanges with servers that others wrote (``PeerServer``).
@Suite(.nightly, .timeLimit(.minutes(5)))
struct PeerTests {
    private static let text = String(repeating: "Call me Ishmael. ", count: 60_000)

    private func body(_ network: HTTPPipeline, _ request: HTTPRequest) async throws -> String {
        String(decoding: try await network.send(request).body, as: UTF8.self)
    }

    /// The ways to reach nginx, in the order of its ports.
    enum Route: Int, CaseIterable, Sendable {
        case plain, secure2, secure1

        var scheme: String { self == .plain ? "http" : "https" }
        var version: String { self == .secure2 ? "HTTP/2.0" : "HTTP/1.1" }
    }

    private static let hasNginx = PeerServer.isThere("nginx", "python3")
    private static let missingNginx: Comment = "nginx or python3 is not installed"

    /// Runs a test with nginx, and with a pipeline that trusts its certificate.
    private func withNginx(
        _ route: Route, _ test: (HTTPPipeline, _ url: String, _ folder: String) async throws -> Void
    ) async throws {
        try await PeerServer.withNginx(.server) { server in
            let roots = server.folder + "/ca.pem"
            try Data(TestIdentity.servers.certificate.utf8).write(to: URL(filePath: roots))
            let executor = AsyncHTTPClientExecutor(trustRoots: roots, proxies: .none)
            let url = "\(route.scheme)://localhost:\(server.ports[route.rawValue])"
            try await test(HTTPPipeline([executor]), url, server.folder)
            await executor.shutdown()
        }
    }

    @Test(.enabled(if: hasNginx, missingNginx), arguments: Route.allCases)
    func `nginx, with and without TLS and HTTP/2`(route: Route) async throws {
        try await withNginx(route) { network, url, folder in
            try Data(Self.text.utf8).write(to: URL(filePath: folder + "/whale.txt"))
            let request = HTTPRequest("GET", url + "/hello", headers: ["X-Reader": "ann"])
            // It closes a connection after ten requests, over HTTP/2 after a hundred.
            for _ in 0..<35 { #expect(try await body(network, request) == "GET \(route.version) ann") }
            let counts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 { group.addTask { try await body(network, request) } }
                return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(counts == ["GET \(route.version) ann": 200])
            let head = try await network.send(HTTPRequest("HEAD", url + "/hello"))
            #expect(head.status == 200 && head.body.isEmpty)
            if route == .secure1 { return }
            let whole = try await network.send(HTTPRequest("GET", url + "/whale.txt"))
            #expect(whole.status == 200 && whole.body == Array(Self.text.utf8))
            let missing = try await network.send(HTTPRequest("GET", url + "/shark.txt"))
            #expect(missing.status == 404 && !missing.body.isEmpty)
            let part = try await network.send(HTTPRequest("GET", url + "/whale.txt", headers: ["Range": "bytes=5-6"]))
            #expect(part.status == 206 && part.body == Array("me".utf8))
            #expect(part.headers["Content-Range"] == "bytes 5-6/\(Self.text.utf8.count)")
            let unchanged = try await network.send(
                HTTPRequest(
                    "GET", url + "/whale.txt", headers: ["If-None-Match": try #require(whole.headers["ETag"])]))
            #expect(unchanged.status == 304 && unchanged.body.isEmpty)
        }
    }
}
