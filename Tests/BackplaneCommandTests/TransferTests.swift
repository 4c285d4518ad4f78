import BackplaneTestKit
import Foundation
import Testing

/// `backplane transfer`: files that arrive whole, on disks that do and do not take them.
@Suite(.timeLimit(.minutes(5)))
struct TransferTests {
    private let tool: Tool
    private let content = [UInt8]((0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    init() throws { tool = try Tool() }

    /// A server of the content, with parts, that stops in the middle of its first answers.
    private func server(stalls: Int = 0, _ requests: Recording<String> = Recording()) throws -> TestServer {
        try TestServer(parts: content, stalls: stalls, at: { _ in 200_000 }, requests)
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: tool.folder + "/" + name)))
    }

    private func start(_ arguments: String...) throws -> RunningTool {
        try RunningTool(["transfer"] + arguments, input: nil, in: tool.folder)
    }

    @Test func `a file is downloaded to the name of its URL, and its path is printed`() async throws {
        let server = try server()
        let outcome = try await start("get", server.url("/books/white%20whale.epub?edition=2")).end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasSuffix("white whale.epub\n"))
        #expect(try bytes("white whale.epub") == content)
        let again = try await start("get", server.url("/white%20whale.epub"), "--existing", "number").end()
        #expect(again.status == 0 && again.output.hasSuffix("white whale-2.epub\n"), "\(again.errors)")
        let kept = try await start("get", server.url("/white%20whale.epub"), ".", "--existing", "keep").end()
        #expect(kept.status == 0 && kept.errors.contains("was kept"))
    }

    @Test func `a download that was interrupted goes on when it is entered again`() async throws {
        let requests = Recording<String>(), server = try server(stalls: 1, requests)
        let running = try start("get", server.url("/whale.epub"))
        #expect(await running.logs("50 %"), "\(running.errors)")
        running.signal(SIGINT)
        let interrupted = await running.end()
        #expect(interrupted.status == 130 && interrupted.errors.contains("continues where this one ended"))
        #expect(!FileManager.default.fileExists(atPath: tool.folder + "/whale.epub"))
        let outcome = try await start("get", server.url("/whale.epub")).end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try bytes("whale.epub") == content)
        #expect(requests.all == ["", "bytes=200000-"])
    }

    @Test func `states are lines of JSON if that is asked for`() async throws {
        let server = try server()
        let outcome = try await start("get", server.url("/whale.epub"), "--json").end()
        #expect(outcome.status == 0 && outcome.errors == "")
        let states = try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let last = try #require(states.last)
        #expect(last["phase"] as? String == "succeeded" && last["progress"] as? Double == 1)
        #expect(last["bytes"] as? Int == content.count && (last["file"] as? String)?.hasSuffix("/whale.epub") == true)
    }

    @Test func `a digest is checked`() async throws {
        let server = try server(), file = try tool.write("", as: "content")
        try Data(content).write(to: URL(filePath: file))
        let sum = try RunningTool(["sha256sum", file], of: "/usr/bin/env", input: nil)
        let digest = String(await sum.end().output.prefix(64))
        let right = try await start("get", server.url("/whale.epub"), "--sha256", digest).end()
        #expect(right.status == 0, "\(right.errors)")
        let wrong = try await start(
            "get", server.url("/b.epub"), "--sha256", String(digest.reversed())
        ).end()
        #expect(wrong.status == 1 && wrong.errors.contains("transfer.digest"), "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.folder + "/b.epub"))
    }

    @Test func `a file is uploaded, and the answer printed`() async throws {
        let server = try TestServer { request, connection in
            let isRefused = request.target == "/refused"
            connection.answer(
                isRefused ? "403 Forbidden" : "200 OK",
                body: Array("\(request.method) \(request["X-A"] ?? "") ".utf8) + request.body)
        }
        let file = try tool.write("white whale", as: "whale.txt")
        let put = try await start("put", file, server.url("/"), "-H", "X-A: 1").end()
        #expect(put.status == 0 && put.output == "PUT 1 white whale", "\(put)")
        let form = try await start("put", file, server.url("/"), "--field", "book").end()
        #expect(
            form.status == 0 && form.output.hasPrefix("POST  --") && form.output.contains("\r\n\r\nwhite whale\r\n"))
        let refused = try await start("put", file, server.url("/refused")).end()
        #expect(refused.status == 1 && refused.output.contains("white whale"))
        #expect(refused.errors.contains("network.status") && refused.errors.contains("403"), "\(refused.errors)")
    }

    @Test(arguments: [
        ["get"], ["get", "http://127.0.0.1:1/"], ["get", "http://127.0.0.1:1/.."], ["get", "http://127.0.0.1:1/a%2Fb"],
        ["get", "http://127.0.0.1:1/a", "--sha256", "12"], ["get", "http://127.0.0.1:1/a", "--existing", "burn"],
        ["get", "http://127.0.0.1:1/a", "-H", "no colon"], ["put", "a"], ["fly"],
    ])
    func `arguments that make no sense are refused, and nothing is sent`(arguments: [String]) async throws {
        let outcome = try await tool.start(["transfer"] + arguments).end()
        #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
        #expect(!outcome.errors.isEmpty)
    }

    @Test func `a server that is not there is exit code 1`() async throws {
        let server = try LoopbackSocket(backlog: nil)
        let outcome = try await start("get", "http://127.0.0.1:\(server.port)/whale.epub").end()
        #expect(outcome.status == 1 && outcome.errors.contains("network.failed"), "\(outcome.errors)")
    }

    // MARK: Disks

    /// Runs a download in a mount namespace of its own, after a command that mounts something there.
    private func get(_ url: String, to path: String, after mounting: String) async throws -> Tool.Outcome {
        try FileManager.default.createDirectory(atPath: tool.data, withIntermediateDirectories: true)
        let namespace = geteuid() == 0 ? ["-m"] : ["-m", "-r"]
        let probe = try RunningTool(
            namespace + ["mount", "-t", "tmpfs", "none", tool.data], of: "/usr/bin/unshare", input: nil)
        guard await probe.end().status == 0 else {
            try Test.cancel("the right to mount in a namespace is needed")
        }
        return try await RunningTool(
            namespace + ["sh", "-ec", mounting + #"; exec "$@""#, "sh", Tool.built + "/backplane"]
                + ["transfer", "get", url, path], of: "/usr/bin/unshare", input: nil
        ).end()
    }

    @Test func `a disk that becomes full is an error that says so`() async throws {
        let server = try server()
        let outcome = try await get(
            server.url("/whale.epub"), to: tool.data + "/whale.epub",
            after: "mount -t tmpfs -o size=256k,mode=0700 none '\(tool.data)'")
        #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
        #expect(outcome.errors.contains("network.file") && outcome.errors.contains("No space left on device"))
    }

    @Test func `a folder that is read-only is an error that says so`() async throws {
        let requests = Recording<String>(), server = try server(requests)
        let outcome = try await get(
            server.url("/whale.epub"), to: tool.data + "/whale.epub",
            after: "mount --bind '\(tool.data)' '\(tool.data)'; mount -o remount,bind,ro '\(tool.data)'")
        #expect(outcome.status == 1 && outcome.errors.contains("Read-only file system"), "\(outcome)")
        #expect(requests.all == [], "nothing is fetched that cannot be kept")
    }
}
