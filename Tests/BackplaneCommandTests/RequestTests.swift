import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand

/// `backplane request`: the body alone on standard output, everything else on standard error.
@Suite(.timeLimit(.minutes(5)))
struct RequestTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Answers with what was asked.
    private static func echo(_ request: ReceivedRequest, _ connection: TestConnection) {
        connection.answer(
            "200 OK", [("X-Type", request["Content-Type"] ?? "")],
            body: Array("\(request.method) \(request.target) \(request["X-A"] ?? "")\n".utf8) + request.body)
    }

    @Test func `a request is sent as its options say, and the body is printed`() async throws {
        let server = try TestServer(Self.echo)
        let file = try tool.write("from a file", as: "body")
        let cases: [([String], String)] = [
            ([server.url("/a?b=1"), "-H", "X-A: 1"], "GET /a?b=1 1\n"),
            ([server.url(), "-d", "text"], "POST / \ntext"),
            ([server.url(), "-X", "PUT", "--json", #"{"a": 1}"#], "PUT / \n{\"a\": 1}"),
            ([server.url(), "--form", "a=b c", "--form", "d=&"], "POST / \na=b+c&d=%26"),
            ([server.url(), "--file", file], "POST / \nfrom a file"),
        ]
        for (arguments, expected) in cases {
            let outcome = try await tool.start(["request"] + arguments).end()
            #expect(outcome.status == 0 && outcome.output == expected, "\(arguments): \(outcome)")
        }
        let form = try await tool.plain("request", server.url(), "--form", "a=b", "--form", "c=@\(file)")
        #expect(form.output.contains("filename=\"body\"") && form.output.contains("\r\n\r\nfrom a file\r\n--"))
    }

    @Test func `a status of 400 or more is a failure, with its body`() async throws {
        let server = try TestServer { $1.answer("404 Not Found", body: Array("no whale".utf8)) }
        let outcome = try await tool.plain("request", server.url())
        #expect(outcome.status == 1 && outcome.output == "no whale")
        #expect(outcome.errors == "backplane: the server answered with status 404\n")
    }

    @Test func `verbose prints heads and times, and no secrets`() async throws {
        let server = try TestServer { $1.answer("200 OK", [("Set-Cookie", "id=secret"), ("X-A", "1")], body: [97]) }
        let outcome = try await tool.plain(
            "request", server.url("/?key=secret"), "--verbose", "-H", "Authorization: Bearer secret")
        #expect(outcome.status == 0 && outcome.output == "a")
        #expect(!outcome.errors.contains("secret"))
        for line in ["> GET \(server.url())", "> Authorization: …", "< HTTP/1.1 200", "< Set-Cookie: …", "< X-A: 1"] {
            #expect(outcome.errors.contains("\(line)\n"), "\(outcome.errors)")
        }
        #expect(outcome.errors.contains("* head after"))
    }

    @Test(arguments: [true])
    func `the stages of the exchange are printed, also of a host's, and no secrets`(hasManifest: Bool) async throws {
        let server = try TestServer { $1.answer("404 Not Found", body: Array("no whale".utf8)) }
        let manifest = try tool.write(#"{"manifestVersion": 1, "plugins": [], "managers": {}}"#, as: "empty.json")
        func stages(_ url: String) async throws -> [String] {
            let arguments = hasManifest ? ["--manifest", manifest] : []
            let outcome = try await tool.start(["request", url, "--trace"] + arguments).end()
            #expect(outcome.status == 1 && !outcome.errors.contains("secret"), "\(outcome)")
            return outcome.errors.replacing(/, [0-9.]+ ms:/, with: ":").split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("exchange ") }
        }
        #expect(
            try await stages(server.url("/books?key=secret")) == [
                "exchange 1: GET \(server.url("/books"))", "exchange 1: attempt 1", "exchange 1: status 404",
                "exchange 1: end, 8 bytes received",
            ])
        server.stop()
        #expect(
            try await stages(server.url("/books?key=secret")) == [
                "exchange 1: GET \(server.url("/books"))", "exchange 1: attempt 1",
                "exchange 1: end, 0 bytes received, network.failed",
            ])
    }

    @Test func `a download shows its progress in lines, and appears complete`() async throws {
        let body = [UInt8](repeating: 120, count: 2_000_000), path = tool.folder + "/download"
        let server = try TestServer { $1.answer("200 OK", body: body) }
        let outcome = try await tool.plain("request", server.url(), "--output", path)
        #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
        #expect(outcome.errors.hasSuffix("received 100 % of 2 MB\n"))
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(body))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a download that is interrupted leaves nothing`() async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
            connection.stall()
        }
        let running = try tool.start(["request", server.url(), "--output", tool.folder + "/download"])
        #expect(await running.logs("received"), "\(running.errors)")
        running.signal(SIGINT)
        #expect(await running.end().status == 130)
        let left = try FileManager.default.contentsOfDirectory(atPath: tool.folder)
        #expect(left.filter { $0.contains("download") || $0.contains("incoming") } == [])
    }

    @Test func `a manifest's executors serve files of its folder`() async throws {
        let outcome = try await tool.plain("request", "file:almanac/events.json", "--manifest", Tool.almanac)
        #expect(outcome.status == 0 && outcome.output.contains("1969"), "\(outcome)")
        let without = try await tool.plain("request", "file:almanac/events.json")
        #expect(without.status == 1 && without.errors.contains("network.refused"))
    }

    @Test func `a credential of the manifest is sent to its hosts, and is shown nowhere`() async throws {
        let server = try TestServer { request, connection in
            let isGood = request["Authorization"] == "Bearer planted-token"
            connection.answer(isGood ? "200 OK" : "401 Unauthorized", body: Array("a shelf".utf8))
        }
        let manifest = try tool.write(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {}, "network": {"credentials": {
                "library": {"type": "bearer", "hosts": ["127.0.0.1"], "secret": "planted-token"}}}}
            """, as: "credentials.json")
        let own = ["--manifest", manifest, "--credentials", "library", "--verbose"]
        let outcome = try await tool.start(["request", server.url("/shelf")] + own).end()
        #expect(outcome.status == 0 && outcome.output == "a shelf", "\(outcome)")
        let curl = try await tool.start(["request", server.url("/shelf"), "--curl"] + own).end()
        let elsewhere = try await tool.start(["request", "http://localhost:\(server.port)/"] + own).end()
        #expect(elsewhere.status == 1 && elsewhere.errors.contains("network.credential"), "\(elsewhere)")
        for shown in [outcome, curl, elsewhere] { #expect(!"\(shown)".contains("planted"), "\(shown)") }
        let wrong = try tool.write(
            String(contentsOfFile: manifest, encoding: .utf8).replacing("planted-token", with: "planted-other"),
            as: "wrong.json")
        let refused = try await tool.start(
            ["request", server.url("/shelf"), "--manifest", wrong, "--credentials", "library"]
        ).end()
        #expect(
            refused.status == 1 && refused.errors.contains("answered with status 401, to the credential `library`"),
            "\(refused)")
    }

    @Test func `without certificates there are no pins, and no request is sent`() async throws {
        let requests = Recording<String>()
        let server = try TestServer(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n") { request, connection in
            requests.add(request.target)
            connection.answer("200 OK")
        }
        let insecure = "https://127.0.0.1:\(server.port)/"
        for (url, code) in [(server.url(), "network.refused"), (insecure, "network.insecure")] {
            let outcome = try await tool.plain("request", url, "--show-pins", "--format", "json")
            #expect(outcome.status == 1 && outcome.output == "" && outcome.errors.contains(code), "\(outcome)")
        }
        #expect(requests.all == [])
    }

    @Test(.enabled(if: PeerServer.isThere("python3"), "python3 is not installed"))
    func `the pins of a server are printed as lines or as JSON`() async throws {
        struct ServerPins: Decodable {
            var host: String
            var pins: [String]
        }
        try await PeerServer.with(Self.secureServer, arguments: [selfSigned()]) { server in
            let url = "https://127.0.0.1:\(server.ports[0])/", host = "127.0.0.1:\(server.ports[0])"
            let lines = try await tool.plain("request", url, "--show-pins")
            let json = try await tool.plain("request", url, "--show-pins", "--format", "json")
            #expect(lines.status == 0 && json.status == 0, "\(lines) \(json)")
            let found = try JSONDecoder().decode(ServerPins.self, from: Data(json.output.utf8))
            let pin = try #require(found.pins.first, "\(json)")
            #expect(found.host == host && found.pins.count == 1)
            #expect(pin.wholeMatch(of: /sha256\/[A-Za-z0-9+\/]{43}=/) != nil, "\(pin)")
            #expect(lines.output == "\(host)\n0 \(pin)\n")
        }
    }

    /// Writes the file with a certificate and its key, and returns its path.
    private func selfSigned() throws -> String {
        let all = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../BackplaneHTTPTests/TLS/certificates.pem")
        let sections = try String(contentsOf: all, encoding: .utf8).split(separator: "# ")
        return try tool.write(String(#require(sections.first { $0.hasPrefix("self-signed\n") })), as: "server.pem")
    }

    /// The script of a TLS server with the certificate and key in a file, whose clients may leave after the handshake.
    private static let secureServer = """
        import socket, ssl, threading
        folder, identity = sys.argv[1:3]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity)
        server = socket.create_server(("127.0.0.1", 0))
        def serve():
            while True:
                client = server.accept()[0]
                try: context.wrap_socket(client, server_side=True).close()
                except OSError: client.close()
        threading.Thread(target=serve, daemon=True).start()
        with open(folder + "/ports.new", "w") as file: file.write(str(server.getsockname()[1]))
        os.rename(folder + "/ports.new", folder + "/ports")
        wait_for_end(folder)
        """

    @Test(.enabled(if: PeerServer.isThere("curl"), "curl is not installed"))
    func `the curl command makes the same request`() async throws {
        let server = try TestServer { request, connection in
            let fields = request.fields.filter { ["content-type", "x-a"].contains($0.name.lowercased()) }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
            let body = String(decoding: request.body, as: UTF8.self)
            var text = "\(request.method) \(request.target) \(fields)\n\(body)"
            // Everybody chooses another one.
            if let boundary = request["Content-Type"]?.split(separator: "boundary=").dropFirst().first {
                text = text.replacing(boundary, with: "BOUNDARY")
            }
            connection.answer("200 OK", body: Array(text.utf8))
        }
        let file = try tool.write("from a file", as: "body it's"), cover = try tool.write("PNG", as: "a;b,\"c\\.png")
        for arguments in [
            [server.url("/a?b=1"), "-H", "X-A: it's \"1\""], [server.url(), "-d", "a & b\nc"],
            [server.url(), "-X", "PUT", "--json", #"{"a": "'$HOME"}"#],
            [server.url(), "--form", "a=b", "--form", "d=&"],
            [server.url(), "--form", "a=<b", "--form", "c=@\(file)", "--form", "d=@\(cover)"],
            [server.url(), "--file", file], [server.url(), "-X", "DELETE"], [server.url(), "-d", "@body"],
        ] {
            let sent = try await tool.start(["request"] + arguments).end()
            let printed = try await tool.start(["request"] + arguments + ["--curl"]).end()
            #expect(printed.status == 0)
            let shell = try RunningTool(
                ["-c", "\(printed.output.dropLast()) --silent"], of: "/bin/sh", input: nil, in: tool.folder)
            #expect(await shell.end().output == sent.output, "\(printed.output)")
        }
    }
}
