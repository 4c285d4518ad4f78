#if Engines
import BackplaneHost
import BackplaneTestKit
import TestFixtures
import Testing

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
#endif
