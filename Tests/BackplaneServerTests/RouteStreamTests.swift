#if Engines
import Backplane
import BackplaneHost
import BackplaneTestKit
import Foundation
import Glibc
import Hummingbird
import Logging
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `Bodies of requests` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    private func chunks(_ bytes: [UInt8], of size: Int) -> [UInt8] {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let chunk = bytes[start..<min(start + size, bytes.count)]
            text += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return text + Array("0\r\n\r\n".utf8)
    }

    private func sendChunks(_ client: ServerConnection, _ path: String, _ body: [UInt8]) async throws
        -> ServerConnection.Answer?
    {
        let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        let bytes = Array(head.utf8) + chunks(body, of: 40_000)
        return try await client.wait { socket in
            socket.send(bytes)
            return socket.answer()
        }
    }

    @Test(arguments: lanes)
    func `a body of up to a megabyte is in memory`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            for count in [1, 70_000, 1 << 20] {
                let body = [UInt8].distinct(count), expected = "memory \(body.mark)"
                #expect(try await client.send("POST", "/bodies", body: body).text == expected)
                #expect(try await sendChunks(client, "/bodies", body)?.text == expected)
            }
            #expect(try await client.send("POST", "/bodies").text == "memory \([UInt8]().mark)")
            #expect(
                try await client.send("POST", "/bodies", ["Content-Length": "0"]).text == "memory \([UInt8]().mark)")
        }
    }

    @Test(arguments: lanes, [false, true])
    func `a longer body is in a file, which only its owner reads and which ends with the answer`(
        lanes: LaneRule, isChunked: Bool
    ) async throws {
        let body = [UInt8].distinct(3_000_000)
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            let answer =
                isChunked
                ? try await sendChunks(client, "/bodies", body)
                : try await client.send("POST", "/bodies", body: body)
            #expect(answer?.text == "file 600 \(body.mark)")
        }
        for path in Shared.notes.all where path.contains("backplane-body-") {
            await eventually { !FileContents.exists(path) }
        }
    }

    @Test(arguments: lanes)
    func `a body is read piece by piece`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            for count in [0, 5_000, 3_000_000] {
                let body = [UInt8].distinct(count)
                #expect(try await client.send("POST", "/uploads", body: body).text == body.mark)
            }
        }
    }

    @Test func `the file also ends with an error, and with a stream`() async throws {
        let body = [UInt8].distinct(2_000_000)
        try await RoutedHost.run { served in
            let client = try served.connect()
            let failed = try await client.send("POST", "/failure", body: body)
            #expect(failed.status == 500)
            let pieces = try await client.send("POST", "/bodies/pieces", body: body)
            #expect(pieces.text == "begin\n2000000\n")
        }
        for path in Shared.notes.all where path.contains("backplane-body-") {
            await eventually { !FileContents.exists(path) }
        }
    }

    @Test func `a body that is longer than the limit is refused before it is received`() async throws {
        var limits = ServerLimits.patient
        limits.body = 100_000
        try await RoutedHost.run(limits: limits) { served in
            let longest = [UInt8].distinct(100_000)
            #expect(try await served.connect().send("POST", "/bodies", body: longest).text == "memory \(longest.mark)")

            let announced = try served.connect()
            try await announced.send("POST /bodies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n")
            let refused = try #require(try await announced.answer())
            #expect(refused.status == 413)
            #expect(refused["connection"] == "close")
            #expect(refused["content-type"] == "application/problem+json")
            try await announced.finish()
            #expect(try await announced.hasEnded())

            let chunked = try served.connect()
            #expect(try await sendChunks(chunked, "/bodies", longest + [0])?.status == 413)
            #expect(try await chunked.hasEnded())

            let sent = try await served.connect().send("POST", "/bodies", body: longest + longest.prefix(50_000))
            #expect(sent.status == 413)
        }
    }

    @Test func `a body that does not arrive in time is refused`() async throws {
        try await RoutedHost.run { served in
            let client = try served.connect()
            try await client.send("POST /bodies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
            try await served.host.clock.expire(ServerLimits.patient.timeout)
            #expect(try await client.answer()?.status == 408)
            #expect(try await client.hasEnded())
            #expect(try await served.connect().get("/books/7").status == 200)
        }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Files that a server sends` {
    private func path(_ file: String) -> String { "/file?path=\(file)" }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a file is sent whole, in part or not at all, as the request asks`(lanes: LaneRule) async throws {
        let folder = try TestFolder(), bytes = Array("0123456789".utf8)
        let file = try folder.write(bytes, as: "digits.txt")
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect(), whole = try await client.get(path(file))
            #expect(whole.status == 200 && whole.body == bytes)
            #expect(whole["content-type"] == "text/plain; charset=utf-8")
            #expect(whole["accept-ranges"] == "bytes")
            let tag = try #require(whole["etag"]), date = try #require(whole["last-modified"])

            let head = try await client.send("HEAD", path(file))
            #expect(head.status == 200 && head["content-length"] == "10" && head.body.isEmpty)
            for fields in [["If-None-Match": tag], ["If-Modified-Since": date]] {
                let known = try await client.send("GET", path(file), fields)
                #expect(known.status == 304 && known.body.isEmpty && known["etag"] == tag)
            }
            let part = try await client.send("GET", path(file), ["Range": "bytes=2-4"])
            #expect(part.status == 206 && part.text == "234")
            #expect(part["content-range"] == "bytes 2-4/10" && part["content-length"] == "3")
            #expect(try await client.send("GET", path(file), ["Range": "bytes=-3"]).text == "789")
            let beyond = try await client.send("GET", path(file), ["Range": "bytes=10-"])
            #expect(beyond.status == 416 && beyond["content-range"] == "bytes */10")
            let page = try await client.get("/file/missing?path=\(file)")
            #expect(page.status == 404 && page.body == bytes && page["etag"] == nil)
        }
    }

    @Test func `a link is followed, and an empty file is an answer`() async throws {
        let folder = try TestFolder(), link = try folder.link("link", to: try folder.write([65], as: "a"))
        let empty = try folder.write(as: "empty")
        try await RoutedHost.run { served in
            let client = try served.connect()
            #expect(try await client.get(path(link)).text == "A")
            let nothing = try await client.get(path(empty))
            #expect(nothing.status == 200 && nothing.isWhole && nothing.body.isEmpty)
        }
    }

    @Test func `a file that is not there is not found, and any other that cannot be sent is an error`() async throws {
        let folder = try TestFolder(), pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        try await RoutedHost.run { served in
            let client = try served.connect()
            #expect(try await client.get(path(folder.path + "/nothing")).status == 404)
            #expect(served.host.log.records.allSatisfy { $0.message != "a route failed" })
            for file in [folder.path, pipe, "digits.txt", ""] {
                #expect(try await client.get(path(file)).status == 500, "\(file)")
            }
            let failures = served.host.log.records.filter { $0.message == "a route failed" }
            #expect(failures.count == 4)
            #expect(failures.first?.metadata["error"]?.contains("found a folder") == true)
            #expect(failures.first?.metadata["route"] == "GET /file")
        }
    }

    @Test func `a long file arrives whole`() async throws {
        let folder = try TestFolder(), bytes = [UInt8].distinct(3_000_000)
        let file = try folder.write(bytes, as: "long")
        try await RoutedHost.run { served in
            let client = try served.connect(receiving: 64 << 10)
            for _ in 0..<2 { #expect(try await client.get(path(file)).body.mark == bytes.mark) }
        }
    }

    @Test func `a file that becomes shorter ends its connection, and does not look complete`() async throws {
        let folder = try TestFolder(), file = try folder.write(as: "shrinking"), size = 256 << 20
        #expect(truncate(file, size) == 0)
        try await RoutedHost.run { served in
            let client = try served.connect(receiving: 64 << 10), head = try await client.open(path(file))
            #expect(head["content-length"] == "\(size)")
            #expect(try await client.piece() != nil)
            #expect(truncate(file, 0) == 0)
            let isWhole = try await client.wait { socket in
                while socket.piece() != nil {}
                return socket.isWhole
            }
            #expect(!isWhole)
            let record = try await served.host.log.record("a route failed")
            #expect(record.metadata["error"]?.contains("shorter") == true)
            #expect(try await served.connect().get("/books/7").status == 200)
        }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Answers in pieces` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes)
    func `pieces are sent as they come, and the connection goes on`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            for _ in 0..<2 {
                let answer = try await client.get("/numbers")
                #expect(answer.status == 200 && answer.isWhole && answer.text == "1\n2\n3\n")
                #expect(answer["transfer-encoding"] == "chunked" && answer["content-type"] == "text/plain")
            }
            let long = try await client.get("/numbers?count=5000")
            #expect(long.text == (1...5_000).map { "\($0)\n" }.joined())
            let problem = try await client.get("/numbers?count=x")
            #expect(problem.status == 400 && problem["content-type"] == "application/problem+json")
        }
    }

    @Test(arguments: lanes)
    func `the first piece arrives before the last one exists`(lanes: LaneRule) async throws {
        let name = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect(), head = try await client.open("/held/\(name)")
            #expect(try await client.piece() == Array("1\n".utf8))
            Shared.gate(name).open()
            #expect(try await client.wait { $0.whole(head) }.text == "2\n")
        }
    }

    @Test(arguments: lanes)
    func `an error before the head is an answer, and one after it ends the connection`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            #expect(try await client.get("/refused").status == 500)
            let broken = try await client.get("/broken")
            #expect(broken.status == 200 && !broken.isWhole && broken.text == "1\n")
            #expect(try await client.hasEnded())
            let record = try await served.host.log.first { $0.metadata["route"] == "GET /broken" }
            #expect(record.level == .error && record.metadata["error"]?.contains("planted") == true)
        }
    }

    @Test(arguments: lanes)
    func `events are lines, and comments while there are none`(lanes: LaneRule) async throws {
        let name = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect(), head = try await client.open("/events/\(name)")
            #expect(head.status == 200)
            #expect(head["content-type"] == "text/event-stream" && head["cache-control"] == "no-store")
            #expect(try await client.piece() == Array("id: 1\ndata: a\n\n".utf8))
            for _ in 0..<2 {
                try await served.host.clock.expire(PartSender.patience)
                #expect(try await client.piece() == Array(":\n\n".utf8))
            }
            Shared.gate(name).open()
            let rest = try await client.wait { $0.whole(head) }
            #expect(rest.isWhole && rest.text == "event: last\nid: 2\ndata: b\ndata: c\n\n")
            let again = try await client.send("GET", "/events/\(name)", ["Last-Event-ID": "7"])
            #expect(again.text.hasPrefix("id: 8\ndata: a\n\n"))
        }
    }

    @Test(arguments: lanes)
    func `a client that leaves ends its stream`(lanes: LaneRule) async throws {
        let bytes = UUID().uuidString, events = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            #expect(try await client.open("/endless/\(bytes)").status == 200)
            #expect(try await client.piece() != nil)
            try await client.close()
            _ = try await Shared.notes.first { $0 == "\(bytes) has ended" }

            let listener = try served.connect()
            #expect(try await listener.open("/events/\(events)").status == 200)
            #expect(try await listener.piece() != nil)
            try await listener.close()
            await eventually {
                served.host.clock.advance(by: PartSender.patience)
                return Shared.notes.all.contains("\(events) has ended")
            }
        }
    }

    @Test(arguments: lanes)
    func `a stop ends events, and bytes with their connection`(lanes: LaneRule) async throws {
        let name = UUID().uuidString, clients = Recording<(ServerConnection, ServerConnection.Answer)>()
        try await RoutedHost.run(lanes: lanes) { served in
            for path in ["/events/\(name)", "/held/\(name)"] {
                let client = try served.connect()
                clients.add((client, try await client.open(path)))
                #expect(try await client.piece() != nil)
            }
        }
        let endings = try await clients.all.concurrent { client, head in try await client.wait { $0.whole(head) } }
        #expect(endings.map(\.isWhole) == [true, false])
        #expect(endings.map(\.text) == ["", ""])
    }

    // MARK: The observer

    private struct Observed: HTTPResponder {
        typealias Context = BasicRequestContext
        let server: RouteServer

        func respond(to request: Request, context: Context) async throws -> Response {
            await server.respond(to: request, remoteAddress: nil)
        }
    }

    @Test func `an observer is told of every answer when it has ended`() async throws {
        let name = UUID().uuidString, folder = try TestFolder(), file = try folder.write([65], as: "a")
        let ended = Recording<String>(), silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let manifest = Manifest(managers: ["Desk": ManagerDefinition(className: "DeskRoutes")])
        try await TestHost.run(manifest, plugins: [DeskPlugin.self]) { host in
            let server = RouteServer(
                host.host, mounting: .manifest, limits: .patient,
                observer: { manager, route, status, time in
                    ended.add("\(manager) \(route) \(status) \(time >= .zero)")
                }, logger: silent)
            try await RoutedApplication.run(Observed(server: server)) { port in
                let client = try ServerConnection(port: port), leaving = try ServerConnection(port: port)
                _ = try await client.get("/books/7")
                _ = try await client.get("/failure")
                _ = try await client.get("/numbers")
                _ = try await client.get("/file?path=\(file)")
                _ = try await client.send("HEAD", "/file?path=\(file)")
                _ = try await client.send("GET", "/file?path=\(file)", ["Range": "bytes=1-"])
                #expect(try await client.get("/nothing").status == 404)
                _ = try await leaving.open("/endless/\(name)")
                try await leaving.close()
                _ = try await ended.first(7)
            }
        }
        #expect(
            ended.all == [
                "Desk GET /books/:id 200 true", "Desk GET /failure 500 true", "Desk GET /numbers 200 true",
                "Desk GET /file 200 true", "Desk GET /file 200 true", "Desk GET /file 416 true",
                "Desk GET /endless/:name 0 true",
            ])
    }
}

extension Sequence where Element: Sendable {
    /// Returns the results of a function for each element, in order.
    fileprivate func concurrent<Result: Sendable>(
        _ body: @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        let tasks = map { element in Task { try await body(element) } }
        var results: [Result] = []
        for task in tasks { results.append(try await task.value) }
        return results
    }
}
#endif
