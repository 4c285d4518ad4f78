import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

/// Exchanges with servers that others wrote (``PeerServer``).
@Suite(.timeLimit(.minutes(5)))
struct PeerTests {
    private static let text = String(repeating: "Call me Ishmael. ", count: 60_000)

    private func body(_ network: HTTPPipeline, _ request: HTTPRequest) async throws -> String {
        String(decoding: try await network.send(request).body, as: UTF8.self)
    }

    @Test(
        .enabled(if: PeerServer.isThere("python3"), "python3 is not installed"), arguments: Engine.allCases,
        ["HTTP/1.0", "HTTP/1.1"])
    func `Python's http.server`(engine: Engine, version: String) async throws {
        try await PeerServer.withPython(version: version) { server in
            let network = HTTPPipeline([engine.executor()]), text = Self.text, folder = server.folder
            let url = "http://127.0.0.1:\(server.ports[0])"
            try Data(text.utf8).write(to: URL(filePath: folder + "/whale.txt"))
            let response = try await network.send(HTTPRequest("GET", url + "/whale.txt"))
            #expect(response.status == 200 && response.body == Array(text.utf8))
            #expect(response.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            let head = try await network.send(HTTPRequest("HEAD", url + "/whale.txt"))
            #expect(head.status == 200 && head.body.isEmpty && head.headers["Content-Length"] == "\(text.utf8.count)")
            let missing = try await network.send(HTTPRequest("GET", url + "/shark.txt"))
            #expect(missing.status == 404 && !missing.body.isEmpty)
            let unsupported = try await network.send(HTTPRequest("POST", url + "/whale.txt", body: .text("no")))
            #expect(unsupported.status == 501)
            let listing = try await body(network, HTTPRequest("GET", url + "/", headers: ["Accept": "text/html"]))
            #expect(listing.contains("whale.txt"), "it lists the folder")
            let path = folder + "/copy"
            let downloaded = try await network.download(HTTPRequest("GET", url + "/whale.txt"), to: path)
            #expect(downloaded.status == 200)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            // Foundation does not tell the version.
            if engine != .urlSession {
                let opened = try await network.open(HTTPRequest("GET", url + "/whale.txt"))
                #expect(opened.version == version)
            }
            // With HTTP/1.0 it closes each connection.
            for _ in 0..<20 {
                #expect(try await network.send(HTTPRequest("GET", url + "/whale.txt")).body.count == text.utf8.count)
            }
        }
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

    @Test(.enabled(if: hasNginx, missingNginx), arguments: [Route.plain, .secure2])
    func `nginx compresses, redirects and takes bodies of known and unknown length`(route: Route) async throws {
        try await withNginx(route) { network, url, folder in
            let text = Self.text
            let pieces = HTTPBody.replayable { Chunks(Array(text.utf8), size: 70_000) }
            for body in [HTTPBody.text(text), pieces] {
                let created = try await network.send(HTTPRequest("PUT", url + "/new.txt", body: body))
                #expect(created.status == 201)
                #expect(try String(contentsOfFile: folder + "/new.txt", encoding: .utf8) == text)
                var options = HTTPOptions()
                options.decompresses = true
                let decoded = try await network.send(HTTPRequest("GET", url + "/new.txt"), options)
                #expect(decoded.body == Array(text.utf8) && decoded.headers["Content-Encoding"] == nil)
                let coded = try await network.send(
                    HTTPRequest("GET", url + "/new.txt", headers: ["Accept-Encoding": "gzip"]))
                #expect(coded.headers["Content-Encoding"] == "gzip" && coded.body.count < text.utf8.count / 10)
                let path = folder + "/copy.txt"
                #expect(
                    try await network.download(HTTPRequest("GET", url + "/new.txt"), to: path, options).status == 200)
                #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
                #expect(try await network.send(HTTPRequest("DELETE", url + "/new.txt")).status == 204)
            }
            let large = HTTPBody.bytes([UInt8](repeating: 1, count: 11 << 20))
            let refused = try await network.send(HTTPRequest("PUT", url + "/large", body: large))
            #expect(refused.status == 413 && !refused.body.isEmpty, "it answers before the body was sent")
            let moved = try await network.send(HTTPRequest("GET", url + "/moved"))
            #expect(moved.status == 302 && moved.headers["Location"]?.hasSuffix("/hello") == true)
            var following = HTTPOptions()
            following.redirects = 1
            let followed = try await network.send(HTTPRequest("GET", url + "/moved"), following)
            #expect(followed.body.starts(with: Array("GET HTTP".utf8)))
            let closed = await #expect(throws: BackplaneError.self) {
                try await network.send(HTTPRequest("GET", url + "/closed"))
            }
            #expect(closed?.code == .networkFailed && closed?.location == url + "/closed")
        }
    }

    @Test(.enabled(if: hasNginx, missingNginx)) func `nginx whose certificate is nobody's is refused`() async throws {
        try await PeerServer.withNginx(.strangeServer) { server in
            let roots = server.folder + "/ca.pem"
            try Data(TestIdentity.servers.certificate.utf8).write(to: URL(filePath: roots))
            let executor = AsyncHTTPClientExecutor(trustRoots: roots, proxies: .none)
            for port in server.ports[1...] {
                let error = await #expect(throws: BackplaneError.self) {
                    try await executor.execute(HTTPRequest("GET", "https://localhost:\(port)/hello"))
                }
                #expect(error?.code == .networkInsecure)
            }
            await executor.shutdown()
        }
    }
}
