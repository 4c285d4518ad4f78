#if Engines
import BackplaneHost
import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

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
#endif
