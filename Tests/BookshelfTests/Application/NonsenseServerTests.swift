#if Engines
import BackplaneTestKit
import Backplane
import BookshelfContracts
import Foundation
import Glibc
import Testing

/// Answers that make no sense: told as such, and what was kept answers instead.
@Suite(.timeLimit(.minutes(10)))
struct NonsenseServerTests {
    private let query = BookQuery(text: "whale")

    private static func response(_ status: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    @Test(
        arguments: [
            ("no HTTP", "220 mail.example.org ESMTP\r\n", "network.malformed", nil),
            (
                "JSON of something else", response("200 OK", #"{"items": [{"name": "Moby-Dick"}]}"#),
                "network.unparsable", "http"
            ),
            (
                "a refusal with a code", response("429 Too Many", #"{"error": "slow.down", "message": "not so fast"}"#),
                "network.status", "slow.down"
            ),
        ] as [(String, String, String, String?)])
    func `the reason is reported, or the stored result is the answer`(
        what: String, answer: String, code: String, own: String?
    )
        async throws
    {
        let server = try NonsenseServer(answer)
        defer { server.stop() }
        let folder = try TestFolder()
        try await Bookshelf.run(server: server.url, in: folder) { _, library in
            let error = await #expect(throws: BackplaneError.self) { try await library.search(query) }
            #expect(error?.code.rawValue == code, "\(what)")
            #expect(error?.failure?.code == own, "\(what)")
        }
        let kept = try await RunningServer.run { real in
            try await Bookshelf.run(server: real.url, in: folder) { _, library in try await library.search(query).value
            }
        }
        try await Bookshelf.run(server: server.url, in: folder) { _, library in
            let found = try await library.search(query)
            #expect(found.value == kept)
            #expect(found.source != .network, "\(what)")
        }
    }
}

/// Says the same to whoever connects, on a free loopback port, and hangs up.
private final class NonsenseServer: Sendable {
    let url: String
    private let socket: Int32

    init(_ answer: String) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, 16) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        try #require(isListening)
        (self.socket, url) = (socket, "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
        Thread.detachNewThread {
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                var request = [UInt8](repeating: 0, count: 65_536)
                _ = recv(connection, &request, request.count, 0)
                let bytes = Array(answer.utf8)
                _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
            close(socket)  // not before: its number may be that of another socket at once
        }
    }

    func stop() {
        shutdown(socket, Int32(SHUT_RDWR))
    }
}
#endif
