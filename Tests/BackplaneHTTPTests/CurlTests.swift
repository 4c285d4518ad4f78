import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Glibc
import TestFixtures
import Testing

/// Requests as commands of curl, which is run.
///
/// With `BACKPLANE_REQUIRE_PEERS=1` a missing curl is a failure.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct CurlTests {
    /// Runs a command in a shell, which reads it from a file; returns its status.
    private func run(_ command: String) throws -> Int32 {
        var process = pid_t(), status: Int32 = 0
        let files = try TestFolder(), script = files.path + "/curl.sh"
        try Data("{ \(command); } >/dev/null 2>&1\n".utf8).write(to: URL(filePath: script))
        let words = ["sh", script]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&process, "/bin/sh", nil, nil, &arguments, nil) == 0 else { return -1 }
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    @Test(.enabled(if: PeerServer.isThere("curl"), "curl is not installed"))
    func `curl sends what the command of a request says`() async throws {
        let received = Recording<ReceivedRequest>()
        let server = try TestServer { request, connection in
            received.add(request)
            connection.answer("200 OK", request.method == "HEAD" ? [("Connection", "close")] : [])
        }
        let files = try TestFolder(), file = files.path + "/curl'"
        try Data("from a file".utf8).write(to: URL(filePath: file))
        let url = server.url("/a/../[1-2]{2} ?q=it's%20$HOME&x=%22")
        // Longer than an argument may be, as text and as bytes.
        let long = Array(String(repeating: "it's \\n 100%\n", count: 20_000).utf8)
        let bytes = [UInt8](repeating: 255, count: 200_000)
        let form = HTTPBody.multipart([.text("title", "Moby-Dick"), .bytes("cover", [0, 255])])
        let filed = HTTPBody.multipart([.text("title", "it's"), .file("cover", file), .bytes("map", [0, 255])])
        let requests: [(HTTPRequest, body: [UInt8])] = [
            (HTTPRequest("GET", url, headers: ["X-Quote": "'a' \"b\" $HOME `id`", "X-Empty": ""]), []),
            (HTTPRequest("HEAD", url), []), (HTTPRequest("DELETE", url, headers: ["User-Agent": "shelf"]), []),
            (HTTPRequest("POST", url, body: .text("@it's\nso\n")), Array("@it's\nso\n".utf8)),
            (HTTPRequest("PUT", url, body: [0, 37, 92, 255, 10]), [0, 37, 92, 255, 10]),
            (HTTPRequest("PATCH", url, body: .file(file, type: "text/plain")), Array("from a file".utf8)),
            (HTTPRequest("POST", url, body: long), long), (HTTPRequest("POST", url, body: bytes), bytes),
            (HTTPRequest("POST", url, headers: ["Content-Length": "1"], body: form), form.bytes ?? []),
            // A quote with a combining mark is one character.
            (HTTPRequest("POST", url, body: .text("it'\u{301}s")), Array("it'\u{301}s".utf8)),
            (HTTPRequest("POST", url, body: filed), try await filed.open().collect(upTo: 1_000)),
        ]
        for (request, body) in requests {
            #expect(try run(request.expandedCurlDescription) == 0, "\(request.method)")
            let sent = try #require(received.all.last)
            #expect(sent.method == request.method && sent.target == "/a/../%5B1-2%5D%7B2%7D%20?q=it's%20$HOME&x=%22")
            #expect(sent.body == body, "\(request.method)")
            for field in request.headers.fields where field.name != "Content-Length" {
                #expect(sent[field.name] == field.value, "\(field.name)")
            }
            #expect(sent["Content-Type"] == request.body.mediaType)
            #expect(sent["Accept"] == nil && sent["Expect"] == nil)
            #expect(sent["User-Agent"] == request.headers["User-Agent"])
        }
        #expect(received.all.count == requests.count)
    }

    @Test func `a description shows no secrets`() {
        let request = HTTPRequest(
            "POST", "https://ann:secret@books.test/loans?key=secret",
            headers: ["Authorization": "Bearer secret", "Accept": "text/plain"], body: .text("secret"))
        #expect(
            request.curlDescription
                == "curl --globoff --path-as-is --request 'POST' --header 'Authorization: …' --header 'Accept: text/plain'"
                + " --header 'Content-Type: text/plain; charset=utf-8' --header 'User-Agent:' --header 'Expect:'"
                + " --data-raw '…' 'https://books.test/loans?…'")
    }
}
