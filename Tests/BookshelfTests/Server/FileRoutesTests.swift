#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FileRoutesTests {
    private struct Receipt: Decodable {
        var name: String
        var size: Int
        var etag: String
    }
    private let path = "/v2/files/notes.txt"
    private let alphabet = "abcdefghijklmnopqrstuvwxyz"

    @Test func `a file comes back as it was sent`() async throws {
        try await RunningServer.run { server in
            let reader = try await server.signIn()
            let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let stored = try await server.send("PUT", path, reader, bytes: bytes)
            #expect(stored.status == 201)
            let receipt = try stored.decoded(Receipt.self)
            #expect((receipt.name, receipt.size) == ("notes.txt", 300_000))
            #expect(stored.header("ETag") == receipt.etag)

            let answer = try await server.send("GET", path)
            #expect(answer.status == 200)
            #expect(answer.data == bytes)
            #expect(answer.header("ETag") == receipt.etag)
            #expect(answer.header("Accept-Ranges") == "bytes")
            #expect(answer.header("Content-Type") == "application/octet-stream")
            #expect(answer.header("X-Content-Type-Options") == "nosniff")
        }
    }

    @Test func `HEAD tells the size and takes no range`() async throws {
        try await uploaded(alphabet) { server, tag in
            let answer = try await server.send("HEAD", path, ["Range": "bytes=0-1"])
            #expect(answer.status == 200)
            #expect(answer.data.isEmpty)
            #expect(answer.header("Content-Length") == "26")
            #expect(answer.header("Accept-Ranges") == "bytes")
            #expect(answer.header("ETag") == tag)
        }
    }

    @Test func `a file is replaced and removed`() async throws {
        try await uploaded("old") { server, tag in
            let reader = try await server.signIn()
            let stored = try await server.send("PUT", path, reader, body: "new")
            #expect(stored.status == 200)
            #expect(stored.header("ETag") != tag)
            #expect(try await server.send("GET", path).text == "new")
            #expect(try await server.send("DELETE", path, reader).status == 204)
            try await server.send("GET", path).expectError(404, "file.unknown")
            try await server.send("DELETE", path, reader).expectError(404, "file.unknown")
        }
    }

    @Test func `an empty file is a file`() async throws {
        try await uploaded("") { server, _ in
            let answer = try await server.send("GET", path)
            #expect(answer.status == 200)
            #expect(answer.data.isEmpty)
            try await server.send("GET", path, ["Range": "bytes=0-"]).expectError(416, "range.unsatisfiable")
        }
    }

    @Test(arguments: [
        ("bytes=0-4", "abcde", "0-4"), ("bytes=20-", "uvwxyz", "20-25"), ("bytes=-3", "xyz", "23-25"),
        ("bytes=25-99", "z", "25-25"),
    ])
    func `a part is sent with its place`(range: String, part: String, place: String) async throws {
        try await uploaded(alphabet) { server, tag in
            let answer = try await server.send("GET", path, ["Range": range])
            #expect(answer.status == 206)
            #expect(answer.text == part)
            #expect(answer.header("Content-Range") == "bytes \(place)/26")
            #expect(answer.header("Content-Length") == "\(part.count)")
            #expect(answer.header("ETag") == tag)
        }
    }

    @Test func `a range beyond the end is an error that tells the size`() async throws {
        try await uploaded(alphabet) { server, _ in
            let answer = try await server.send("GET", path, ["Range": "bytes=26-"])
            try answer.expectError(416, "range.unsatisfiable")
            #expect(answer.header("Content-Range") == "bytes */26")
        }
    }

    @Test(arguments: ["bytes=0-1,4-5", "bytes=5-2", "lines=1-2"])
    func `a range that is not understood is ignored`(range: String) async throws {
        try await uploaded(alphabet) { server, _ in
            let answer = try await server.send("GET", path, ["Range": range])
            #expect(answer.status == 200)
            #expect(answer.text == alphabet)
        }
    }

    @Test func `a range is only taken of the file that the client knows`() async throws {
        try await uploaded(alphabet) { server, tag in
            #expect(try await server.send("GET", path, ["Range": "bytes=0-1", "If-Range": tag]).status == 206)
            for condition in ["\"other\"", "W/\(tag)", "Sat, 21 Nov 2026 12:00:00 GMT"] {
                let answer = try await server.send("GET", path, ["Range": "bytes=0-1", "If-Range": condition])
                #expect(answer.status == 200, "\(condition)")
                #expect(answer.text == alphabet)
            }
            #expect(try await server.send("GET", path, ["Range": "bytes=0-1", "If-None-Match": tag]).status == 304)
        }
    }

    @Test(arguments: [".hidden", "..a", "a%2Fb", "..%2Fb", "a%20b", "%C3%A9", String(repeating: "a", count: 101)])
    func `a name that is none is refused`(name: String) async throws {
        try await RunningServer.run { server in
            try await server.send("GET", "/v2/files/\(name)").expectError(400, "file.name-invalid")
            try await server.send("PUT", "/v2/files/\(name)", try await server.signIn(), body: "x").expectError(
                400, "file.name-invalid")
        }
    }

    @Test func `a name stays within its folder`() {
        for name in ["a", "A-b_c.9", "a..b", String(repeating: "a", count: 100)] {
            #expect(FileStore.isName(name), "\(name)")
        }
        for name in ["", ".", "..", "a/b", "../a", "a\0", "é", "a\n"] { #expect(!FileStore.isName(name), "\(name)") }
    }

    @Test func `a file that announces too much is refused before it is sent`() async throws {
        try await RunningServer.run { server in
            let connection = try await server.upload(["Content-Length: \(FileStore.maximumSize + 1)"])
            #expect(connection.receive().hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func `a file that grows too large is refused and not kept`() async throws {
        try await RunningServer.run { server in
            let connection = try await server.upload(["Transfer-Encoding: chunked"])
            let chunk = "100000\r\n" + String(repeating: "x", count: 0x100000) + "\r\n"
            for _ in 0..<65 { connection.send(chunk) }
            connection.send("0", "", "")
            var answer = connection.receive()
            while !answer.contains("file.too-large") {
                let more = connection.receive()
                if more.isEmpty { break }
                answer += more
            }
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains("file.too-large"))
            try await server.send("GET", path).expectError(404, "file.unknown")
        }
    }

    @Test(arguments: [["Content-Length: 100", "", "abc"], ["Transfer-Encoding: chunked", "", "3", "abc", ""]])
    func `an upload that breaks off leaves the old file`(lines: [String]) async throws {
        try await uploaded("old") { server, _ in
            let connection = try await server.upload(lines)
            connection.finish()
            while !connection.receive().isEmpty {}
            #expect(try await server.send("GET", path).text == "old")
        }
    }

    private func uploaded(_ text: String, body: (RunningServer, String) async throws -> Void) async throws {
        try await RunningServer.run { server in
            let stored = try await server.send("PUT", path, try await server.signIn(), body: text)
            try await body(server, try #require(stored.header("ETag")))
        }
    }
}

extension RunningServer {
    /// Begins an upload to `notes.txt` by hand; the lines end its head, and may begin its body.
    fileprivate func upload(_ lines: [String]) async throws -> RawConnection {
        let token = try #require(try await signIn()["Authorization"])
        let connection = try RawConnection(to: self)
        let head = ["PUT /v2/files/notes.txt HTTP/1.1", "Host: localhost", "Authorization: \(token)"]
        connection.send((head + lines + (lines.count == 1 ? ["", ""] : [])).joined(separator: "\r\n"))
        return connection
    }
}
#endif
