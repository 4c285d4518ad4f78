import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Synchronization
import Testing

/// Exchanges with servers that others wrote.
///
/// They are skipped where a server is missing. With `BACKPLANE_REQUIRE_PEERS=1` in the environment a missing server is
/// a failure.
@Suite(.timeLimit(.minutes(5)))
struct PeerTests {
    private static let requiresPeers = ProcessInfo.processInfo.environment["BACKPLANE_REQUIRE_PEERS"] == "1"

    private static func hasProgram(_ name: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return requiresPeers || folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// A server that ends with its input, and so with this process at the latest.
    ///
    /// The port goes to a file, since reading what a process prints would occupy a thread of Swift's pool.
    private static let python = """
        import functools, http.server, os, sys, threading
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        with open(sys.argv[2] + ".new", "w") as file: file.write(str(server.server_port))
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        os._exit(0)
        """

    /// Runs Python's `http.server` on a folder.
    private func withPython(_ body: (_ url: String, _ folder: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "peer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.python, folder, folder + "/port"]
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { try? input.fileHandleForWriting.close() }
        var port: String?
        for _ in 0..<3_000 where port == nil {
            try await Task.sleep(for: .milliseconds(10))
            port = try? String(contentsOfFile: folder + "/port", encoding: .utf8)
        }
        try await body("http://127.0.0.1:\(try #require(port, "python3 did not start a server"))", folder)
    }

    @Test(
        .enabled(if: PeerTests.hasProgram("python3"), "python3 is not installed"), arguments: Engine.allCases)
    func `Python's http.server`(engine: Engine) async throws {
        try await withPython { url, folder in
            let network = HTTPPipeline([engine.executor()]),
                text = String(repeating: "Call me Ishmael. ", count: 60_000)
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
            let moved = try await network.send(HTTPRequest("GET", url + "/", headers: ["Accept": "text/html"]))
            #expect(String(decoding: moved.body, as: UTF8.self).contains("whale.txt"), "it lists the folder")
            let path = folder + "/copy"
            let downloaded = try await network.download(HTTPRequest("GET", url + "/whale.txt"), to: path)
            #expect(downloaded.status == 200)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            // It answers in HTTP/1.0 and closes each connection.
            for _ in 0..<20 {
                #expect(try await network.send(HTTPRequest("GET", url + "/whale.txt")).body.count == text.utf8.count)
            }
        }
    }
}
