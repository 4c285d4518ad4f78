import BackplaneTestKit
import Foundation
import Testing

/// `backplane transfer` against a running host, which goes on with what it has begun.
@Suite(.timeLimit(.minutes(5)))
struct HostedTransferTests {
    private let tool: Tool
    private let content = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    init() throws { tool = try Tool() }

    @Test func `after kill -9 of the host the next one goes on from the part file`() async throws {
        let requests = Recording<String>(), server = try TestServer(parts: content, stalls: 1, requests)
        let path = tool.folder + "/whale.epub", url = server.url("/whale.epub")
        let running = try await tool.startRun(Tool.almanac)
        let get = try tool.start(["transfer", "get", url, path, "--running"])
        #expect(await get.logs("60 %"), "\(get.errors)")
        running.signal(SIGKILL)
        _ = await running.end()
        #expect(await get.end().status == 1)
        #expect(!FileManager.default.fileExists(atPath: path))

        let again = try await tool.startRun(Tool.almanac)
        let watched = try await tool.plain("transfer", "watch", url)
        #expect(watched.status == 0 && watched.output.hasSuffix("whale.epub\n"), "\(watched.errors)")
        #expect(Array(try Data(contentsOf: URL(filePath: path))) == content)
        let from = try #require(requests.all.last.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) })
        // Fewer bytes than lie between two marks of a part file are lost.
        #expect(requests.all.count == 2 && 600_000 - (256 << 10)...600_000 ~= from, "\(requests.all)")
        again.signal(SIGTERM)
        _ = await again.end()
    }

    @Test func `a transfer is listed, paused, resumed, cancelled and removed`() async throws {
        let server = try TestServer(parts: content, stalls: 2), url = server.url("/whale.epub")
        let running = try await tool.startRun(Tool.almanac)
        let get = try tool.start(["transfer", "get", url, tool.folder + "/whale.epub", "--running"])
        #expect(await get.logs("60 %"), "\(get.errors)")
        let listed = try await tool.plain("transfer", "list", "--open", "--json")
        #expect(listed.output.contains(#""phase" : "running""#) && listed.output.contains("whale.epub"))
        let paused = try await tool.plain("transfer", "pause", url)
        #expect(paused.status == 0 && paused.output.contains("paused, 60 % of "), "\(paused)")
        #expect(try await tool.plain("transfer", "resume", url).status == 0)
        // A watch prints a line for each tenth, so that one that looks before would not print where it stalls.
        var list = ""
        for _ in 0..<600 where !list.contains("84 % of 1 MB") { list = try await tool.plain("transfer", "list").output }
        let watch = try tool.start(["transfer", "watch"])
        #expect(await watch.says("running, 84 % of 1 MB\n"), "\(watch.output)")
        let cancelled = try await tool.plain("transfer", "cancel", url)
        #expect(cancelled.output.contains("cancelled"))
        #expect(await get.end().status == 1)
        let watched = await watch.end()
        #expect(watched.status == 0 && watched.output.hasSuffix("\(url): cancelled, 0 % of 1 MB\n"), "\(watched)")
        #expect(try await tool.plain("transfer", "remove", url).status == 0)
        let unknown = try await tool.plain("transfer", "resume", url)
        #expect(unknown.status == 1 && unknown.errors.contains("transfer.unknown"), "\(unknown.errors)")
        #expect(try await tool.plain("transfer", "watch").output == "")
        running.signal(SIGTERM)
        _ = await running.end()
    }

    @Test func `a file is uploaded, again each time it is asked for, and the answer printed`() async throws {
        let server = try TestServer { request, connection in
            let isRefused = request.target == "/refused"
            connection.answer(
                isRefused ? "403 Forbidden" : "200 OK",
                body: Array("\(request.method) \(request["X-A"] ?? "") ".utf8) + request.body)
        }
        let running = try await tool.startRun(Tool.almanac), url = server.url("/whale")
        let file = try tool.write("white whale", as: "whale.txt")
        let put = try await tool.plain("transfer", "put", file, url, "-H", "X-A: 1", "--running")
        #expect(put.status == 0 && put.output == "PUT 1 white whale", "\(put)")
        try tool.write("blue whale", as: "whale.txt")
        let again = try await tool.plain("transfer", "put", file, url, "-H", "X-A: 1", "--running")
        #expect(again.status == 0 && again.output == "PUT 1 blue whale", "\(again)")
        let form = try await tool.plain("transfer", "put", file, url, "--field", "book", "--running")
        #expect(
            form.status == 0 && form.output.hasPrefix("POST  --") && form.output.contains("\r\n\r\nblue whale\r\n"),
            "\(form)")
        let other = try tool.write("sperm whale", as: "other.txt")
        for (file, text) in [(file, "blue whale"), (file, "blue whale"), (other, "sperm whale")] {
            let refused = try await tool.plain("transfer", "put", file, server.url("/refused"), "--running")
            #expect(refused.status == 1 && refused.output == "PUT  \(text)", "\(refused)")
            #expect(refused.errors.contains("network.status") && refused.errors.contains("403"), "\(refused.errors)")
        }
        running.signal(SIGTERM)
        _ = await running.end()
    }
}
