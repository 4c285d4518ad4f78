import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// Credentials against a server that others wrote: httpbin with gunicorn.
///
/// They are skipped where Python has no httpbin. `BACKPLANE_HTTPBIN_PYTHON` names the interpreter of a virtual
/// environment that has both packages; with `BACKPLANE_REQUIRE_PEERS=1` a missing server is a failure.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct HTTPBinTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let python = environment["BACKPLANE_HTTPBIN_PYTHON"] ?? "python3"

    /// Whether the server can be started, or has to be.
    private static let isThere: Bool = {
        if environment["BACKPLANE_REQUIRE_PEERS"] == "1" { return true }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, "-c", "import gunicorn, httpbin"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// A server that ends with the test, or with this process.
    private static let script = """
        import importlib.metadata, os, re, subprocess, sys, threading
        server = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--bind", "127.0.0.1:0", "httpbin:app"],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_starter)
        def read():
            for line in server.stderr:
                found = re.search(r"Listening at: http://127\\.0\\.0\\.1:(\\d+)", line)
                if found:
                    with open(sys.argv[1] + ".new", "w") as file:
                        versions = [name + " " + importlib.metadata.version(name) for name in ("httpbin", "gunicorn")]
                        file.write(found.group(1) + "\\n" + ", ".join(versions))
                    os.rename(sys.argv[1] + ".new", sys.argv[1])
        threading.Thread(target=read, daemon=True).start()
        wait_for_end(os.path.dirname(sys.argv[1]))
        server.terminate()
        server.wait()
        """

    private func withServer(_ body: (_ url: String) async throws -> Void) async throws {
        let files = try TestFolder(), folder = files.path
        let process = Process(), input = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [Self.python, "-c", PeerServer.waiting + Self.script, folder + "/port"]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { try? input.fileHandleForWriting.close() }
        var lines: [Substring] = []
        for _ in 0..<6_000 where lines.isEmpty {
            try await Task.sleep(for: .milliseconds(10))
            lines = (try? String(contentsOfFile: folder + "/port", encoding: .utf8))?.split(separator: "\n") ?? []
        }
        try #require(lines.count == 2, "httpbin did not start")
        print("The server is \(lines[1]).")
        try await body("http://127.0.0.1:\(lines[0])")
    }

    private func network(_ engine: Engine, password: Secret = "passwd") -> HTTPPipeline {
        let login = Login(user: "user", password: password), hosts = ["127.0.0.1"]
        return HTTPPipeline(
            [engine.executor()],
            credentials: Credentials([
                "basic": Credential(hosts: hosts, .basic(login)),
                "asked": Credential(hosts: hosts, .basic(login, isPreemptive: false)),
                "digest": Credential(hosts: hosts, .digest(login)),
                "bearer": Credential(hosts: hosts, .bearer(TokenSource(secret: "token-1"))),
            ]))
    }

    private func get(
        _ url: String, _ credential: String?, _ network: HTTPPipeline, method: String = "GET"
    ) async throws -> (status: Int, body: String) {
        var options = HTTPOptions()
        (options.credential, options.redirects) = (credential, 5)
        let response = try await network.send(HTTPRequest(method, url), options)
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test(.enabled(if: HTTPBinTests.isThere, "Python has no httpbin and gunicorn"), arguments: Engine.allCases)
    func `httpbin accepts every scheme, and refuses a wrong password`(engine: Engine) async throws {
        try await withServer { url in
            let network = network(engine), wrong = self.network(engine, password: "wrong")
            #expect(try await get(url + "/basic-auth/user/passwd", nil, network).status == 401)
            for (path, credential) in [
                ("/basic-auth/user/passwd", "basic"), ("/basic-auth/user/passwd", "asked"),
                ("/hidden-basic-auth/user/passwd", "basic"),
            ] {
                #expect(try await get(url + path, credential, network).status == 200, "\(path), \(credential)")
                let refused = try await get(url + path, credential, wrong).status
                #expect(refused == 401 || refused == 404, "\(path), \(credential)")
            }
            #expect(
                try await get(url + "/hidden-basic-auth/user/passwd", "asked", self.network(engine)).status == 404,
                "it does not ask, and nobody else at this server has")
            #expect(try await get(url + "/bearer", "bearer", network).body.contains(#""token": "token-1""#))
            #expect(try await get(url + "/bearer", nil, network).status == 401)
            let redirected = try await get(
                url + "/redirect-to?url=/basic-auth/user/passwd", "basic", network)
            #expect(redirected.status == 200)
        }
    }

    @Test(.enabled(if: HTTPBinTests.isThere, "Python has no httpbin and gunicorn"), arguments: Engine.allCases)
    func `httpbin accepts Digest with each algorithm and quality`(engine: Engine) async throws {
        try await withServer { url in
            let wrong = network(engine, password: "wrong")
            for algorithm in ["MD5", "SHA-256"] {
                for quality in ["auth", "auth-int", "any"] {
                    let network = network(engine)
                    // Without a query, with which httpbin 0.10.4 fails.
                    let path = "\(url)/digest-auth/\(quality)/user/passwd/\(algorithm)/never"
                    for _ in 1...2 {
                        let answer = try await get(path, "digest", network)
                        #expect(
                            answer.status == 200 && answer.body.contains(#""authenticated": true"#),
                            "\(algorithm), \(quality): \(answer)")
                    }
                    #expect(try await get(path, "digest", wrong).status == 401, "\(algorithm), \(quality)")
                }
            }
            // Its stale nonces keep their state in cookies: each nonce is good for one request.
            let jar = HTTPPipeline(
                [engine.executor()],
                credentials: Credentials([
                    "digest": Credential(
                        hosts: ["127.0.0.1"], .digest(Login(user: "user", password: "passwd")), hasCookies: true)
                ]))
            for number in 1...4 {
                let answer = try await get("\(url)/digest-auth/auth/user/passwd/MD5/1", "digest", jar)
                #expect(answer.status == 200, "request \(number): \(answer)")
            }
            let unknown = "\(url)/digest-auth/auth/user/passwd/SHA-512/never"
            #expect(try await get(unknown, "digest", network(engine)).status == 401, "it is not answered")
        }
    }
}
