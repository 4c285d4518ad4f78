import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneCommand

/// `backplane transfers` against a running host, which goes on with what it has begun.
@Suite(.timeLimit(.minutes(5)))
struct HostedTransferTests {
    private let tool: Tool
    private let content = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    init() throws { tool = try Tool() }

    @Test func `after kill -9 of the host the next one goes on from the part file`() async throws {
        let requests = Recording<String>(), server = try TestServer(parts: content, stalls: 1, requests)
        let path = tool.folder + "/whale.epub", url = server.url("/whale.epub")
        let running = try await tool.startRun(Tool.almanac)
        let get = try tool.start(["transfers", "get", url, path, "--running"])
        #expect(await get.logs("60 %"), "\(get.errors)")
        running.signal(SIGKILL)
        _ = await running.end()
        #expect(await get.end().status == 1)
        #expect(!FileManager.default.fileExists(atPath: path))

        let again = try await tool.startRun(Tool.almanac)
        let watched = try await tool.plain("transfers", "watch", url)
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
        let get = try tool.start(["transfers", "get", url, tool.folder + "/whale.epub", "--running"])
        #expect(await get.logs("60 %"), "\(get.errors)")
        let listed = try await tool.plain("transfers", "list", "--open", "--json")
        #expect(listed.output.contains(#""phase" : "running""#) && listed.output.contains("whale.epub"))
        let paused = try await tool.plain("transfers", "pause", url)
        #expect(paused.status == 0 && paused.output.contains("paused, 60 % of "), "\(paused)")
        #expect(try await tool.plain("transfers", "resume", url).status == 0)
        // A watch prints a line for each tenth, so that one that looks before would not print where it stalls.
        var list = ""
        for _ in 0..<600 where !list.contains("84 % of 1 MB") {
            list = try await tool.plain("transfers", "list").output
        }
        let watch = try tool.start(["transfers", "watch"])
        #expect(await watch.says("running, 84 % of 1 MB\n"), "\(watch.output)")
        let cancelled = try await tool.plain("transfers", "cancel", url)
        #expect(cancelled.output.contains("cancelled"))
        #expect(await get.end().status == 1)
        let watched = await watch.end()
        #expect(watched.status == 0 && watched.output.hasSuffix("\(url): cancelled, 0 % of 1 MB\n"), "\(watched)")
        #expect(try await tool.plain("transfers", "remove", url).status == 0)
        let unknown = try await tool.plain("transfers", "resume", url)
        #expect(unknown.status == 1 && unknown.errors.contains("transfer.unknown"), "\(unknown.errors)")
        #expect(try await tool.plain("transfers", "watch").output == "")
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
        let put = try await tool.plain("transfers", "put", file, url, "-H", "X-A: 1", "--running")
        #expect(put.status == 0 && put.output == "PUT 1 white whale", "\(put)")
        try tool.write("blue whale", as: "whale.txt")
        let again = try await tool.plain("transfers", "put", file, url, "-H", "X-A: 1", "--running")
        #expect(again.status == 0 && again.output == "PUT 1 blue whale", "\(again)")
        let form = try await tool.plain("transfers", "put", file, url, "--field", "book", "--running")
        #expect(
            form.status == 0 && form.output.hasPrefix("POST  --") && form.output.contains("\r\n\r\nblue whale\r\n"),
            "\(form)")
        let other = try tool.write("sperm whale", as: "other.txt")
        for (file, text) in [(file, "blue whale"), (file, "blue whale"), (other, "sperm whale")] {
            let refused = try await tool.plain("transfers", "put", file, server.url("/refused"), "--running")
            #expect(refused.status == 1 && refused.output == "PUT  \(text)", "\(refused)")
            #expect(refused.errors.contains("network.status") && refused.errors.contains("403"), "\(refused.errors)")
        }
        running.signal(SIGTERM)
        _ = await running.end()
    }

    // MARK: The terminal

    @Test func `rows of any text fit on the terminal`() {
        let states = (0..<30).map { number in
            TransferState(id: "図書館/\(number)" + String(repeating: "鯨", count: 80), owner: "", isUpload: false)
        }
        for (columns, rows) in [(40, 10), (80, 24), (200, 32)] {
            let table = TransferTableView.table(states, columns, rows)
            #expect(table.count == min(rows - 1, 31))
            #expect(table.allSatisfy { $0.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2FFF ? 2 : 1) } < columns })
            #expect(table.last == "… and \(30 - (rows - 3)) more" || rows == 32)
        }
    }
}

extension TestServer {
    /// Starts a server of one file, with parts, whose first responses stop in the middle until the client leaves.
    ///
    /// - Parameters:
    ///   - content: The file.
    ///   - stalls: The number of responses that stop.
    ///   - requests: Receives the values of `Range`, empty where there was none.
    convenience init(
        parts content: [UInt8], stalls: Int, _ requests: Recording<String> = Recording()
    ) throws {
        let count = Mutex(0)
        try self.init { request, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            requests.add(request["Range"] ?? "")
            let from = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let body = Array(content[from...]), range = "bytes \(from)-\(content.count - 1)/\(content.count)"
            let fields = [("ETag", "\"1\"")] + (from > 0 ? [("Content-Range", range)] : [])
            let status = from > 0 ? "206 Partial Content" : "200 OK"
            guard number <= stalls else { return connection.answer(status, fields, body: body) }
            let lines = fields.map { "\($0): \($1)\r\n" }.joined()
            connection.send("HTTP/1.1 \(status)\r\n\(lines)Content-Length: \(body.count)\r\n\r\n")
            connection.send(body.prefix(body.count * 6 / 10))
            connection.stall()
        }
    }
}
