import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// Proxies and certificates that the environment defines.
@Suite(.timeLimit(.minutes(5)))
struct ProxyTests {
    @Test(
        arguments: [
            ("books.example.org", "http://proxy:3128"), ("example.com", nil), ("a.example.com", nil),
            ("notexample.com", "http://proxy:3128"), ("LOCALHOST", nil), ("[::1]", nil),
        ] as [(String, String?)])
    func `the environment's proxy is used except for the hosts that it exempts`(host: String, proxy: String?) throws {
        let proxies = HTTPProxies(["https_proxy": "http://proxy:3128", "no_proxy": "localhost,.example.com ::1"])
        let found = try proxies.proxy(for: HTTPRequest("GET", "https://\(host)/"))
        #expect(found.map { "http://\($0.host):\($0.port)" } == proxy)
        #expect(try proxies.proxy(for: HTTPRequest("GET", "http://\(host)/")) == nil)
    }

    @Test func `a proxy is asked for a tunnel with its credentials, and sees nothing of the request`() async throws {
        let proxy = try TestServer { _, connection in
            connection.answer("403 Forbidden", body: Array("no whales".utf8))
            connection.close()
        }
        let executor = AsyncHTTPClientExecutor(
            proxies: HTTPProxies(["https_proxy": "http://ann:p%20ss@127.0.0.1:\(proxy.port)"]))
        let request = HTTPRequest(
            "POST", "https://books.test/shelf?q=whale", headers: ["Authorization": "Bearer own"], body: .text("body"))
        let error = await #expect(throws: BackplaneError.self) { try await executor.execute(request) }
        #expect(error?.code == .networkFailed && error?.message.lowercased().contains("proxy") == true)
        let received = try #require(await proxy.requests.first { _ in true })
        #expect(received.method == "CONNECT" && received.target == "books.test:443")
        #expect(received["Proxy-Authorization"] == "Basic \(Data("ann:p ss".utf8).base64EncodedString())")
        #expect(received["Authorization"] == nil && received.body.isEmpty)
        await executor.shutdown()
    }

    /// A proxy with tunnels, which writes the targets that it is asked for to the file `targets`.
    private static let tunnels = """
        import os, socket, sys, threading
        folder = sys.argv[1]
        server = socket.create_server(("127.0.0.1", 0))
        def copy(source, sink):
            try:
                while data := source.recv(65536): sink.sendall(data)
            except OSError: pass
            for one in (source, sink):
                try: one.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        def serve(client):
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                more = client.recv(1)
                if not more: return client.close()
                head += more
            target = head.split()[1].decode()
            with open(folder + "/files/targets", "a") as file: file.write(target + "\\n")
            try: other = socket.create_connection(("127.0.0.1", int(target.rsplit(":", 1)[1])))
            except OSError: return client.close()
            client.sendall(b"HTTP/1.1 200 Connected\\r\\n\\r\\n")
            threading.Thread(target=copy, args=(other, client), daemon=True).start()
            copy(client, other)
        def accept():
            while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        with open(folder + "/ports.new", "w") as file: file.write(str(server.getsockname()[1]))
        os.rename(folder + "/ports.new", folder + "/ports")
        threading.Thread(target=accept, daemon=True).start()
        wait_for_end(folder)
        os._exit(0)
        """

    @Test(.enabled(if: PeerServer.isThere("python3"), "python3 is not installed"), arguments: [true, false])
    func `TLS and HTTP/2 pass through a tunnel, except to hosts that are exempt`(offersHTTP2: Bool) async throws {
        let server = try await SecureTestServer(.server, offersHTTP2: offersHTTP2) { request in
            .init(body: Array(request.target.utf8))
        }
        try await PeerServer.with(Self.tunnels) { proxy in
            let roots = proxy.folder + "/ca.pem"
            try Data(TestIdentity.servers.certificate.utf8).write(to: URL(filePath: roots))
            let executor = AsyncHTTPClientExecutor(
                trustRoots: roots,
                proxies: HTTPProxies(["https_proxy": "http://127.0.0.1:\(proxy.ports[0])", "no_proxy": "localhost"]))
            let tunnelled = try await executor.open(HTTPRequest("GET", server.url("/a", host: "127.0.0.1")), .init())
            #expect(tunnelled.version == (offersHTTP2 ? "HTTP/2" : "HTTP/1.1"))
            #expect(try await tunnelled.collect().body == Array("/a".utf8))
            let direct = try await executor.execute(HTTPRequest("GET", server.url("/b", host: "localhost")))
            #expect(direct.body == Array("/b".utf8))
            let targets = try String(contentsOfFile: proxy.folder + "/targets", encoding: .utf8)
            #expect(targets == "127.0.0.1:\(server.port)\n")
            await executor.shutdown()
        }
        await server.stop()
    }

    @Test func `the environment names the certificates to trust, and the proxy`() async {
        await #expect(processExitsWith: .success) {
            let files = try TestFolder(), file = files.path + "/roots.pem"
            for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
                unsetenv(name)
            }
            let server = try await SecureTestServer(.server) { _ in .init(body: [7]) }
            let request = HTTPRequest("GET", server.url())
            for (authority, isTrusted) in [(TestIdentity.servers, true), (.strangers, false)] {
                try Data(authority.certificate.utf8).write(to: URL(filePath: file))
                setenv("SSL_CERT_FILE", file, 1)
                let executor = AsyncHTTPClientExecutor()
                if isTrusted {
                    #expect(try await executor.execute(request).body == [7])
                } else {
                    let error = await #expect(throws: BackplaneError.self) { try await executor.execute(request) }
                    #expect(error?.code == .networkInsecure)
                }
                await executor.shutdown()
            }
            setenv("SSL_CERT_FILE", "", 1)
            setenv("https_proxy", "socks5://127.0.0.1:1", 1)
            let executor = AsyncHTTPClientExecutor()
            let refused = await #expect(throws: BackplaneError.self) { try await executor.execute(request) }
            #expect(refused?.code == .networkRefused)
            setenv("no_proxy", "localhost", 1)
            let direct = AsyncHTTPClientExecutor()
            let untrusted = await #expect(throws: BackplaneError.self) { try await direct.execute(request) }
            #expect(untrusted?.code == .networkInsecure)
            #expect(untrusted?.message.contains("certificate verify failed") == true, "the system's roots are read")
            #expect(server.requestCount == 1)
            for executor in [executor, direct] { await executor.shutdown() }
            await server.stop()
        }
    }
}

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

extension PeerServer {
    /// Runs nginx on a folder: on the first port with HTTP/1.1, on the second with HTTP/2 and TLS, on the third with
    /// HTTP/1.1 and TLS.
    static func withNginx(_ identity: TestIdentity, _ body: (PeerServer) async throws -> Void) async throws {
        try await withNginx(configuration: configuration) { folder in
            try Data(identity.certificate.utf8).write(to: URL(filePath: folder + "/certificate.pem"))
            try Data(identity.key.utf8).write(to: URL(filePath: folder + "/key.pem"))
        } _: {
            try await body($0)
        }
    }

    private static let configuration = """
        daemon off; master_process off; pid FOLDER/nginx.pid; error_log FOLDER/error.log;
        events { worker_connections 256; }
        http {
            access_log off; default_type text/plain; root FOLDER/files;
            client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3;
            uwsgi_temp_path FOLDER/t4; scgi_temp_path FOLDER/t5;
            client_max_body_size 10m; gzip on; gzip_types *;
            ssl_certificate FOLDER/certificate.pem; ssl_certificate_key FOLDER/key.pem;
            server { listen 127.0.0.1:PORT0; keepalive_requests 10; \(locations) }
            server { listen 127.0.0.1:PORT1 ssl http2; keepalive_requests 100; \(locations) }
            server { listen 127.0.0.1:PORT2 ssl; keepalive_requests 10; \(locations) }
        }
        """

    private static let locations = """
        location / { dav_methods PUT DELETE; }
        location = /hello { return 200 "$request_method $server_protocol $http_x_reader"; }
        location = /moved { return 302 /hello; }
        location = /closed { return 444; }
        """
}
