import BackplaneNetwork
import BackplaneTransfers
import Foundation
import TestFixtures
import Testing

/// Downloads from a server that others wrote: nginx, which counts what it sends.
///
/// They are skipped where there is no nginx; with `BACKPLANE_REQUIRE_PEERS=1` a missing one is a failure.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: PeerServer.isThere("nginx", "python3"), "nginx or python3 is not installed"))
struct NginxTransferTests {
    private let fixture: TransferFixture

    init() throws { fixture = try TransferFixture() }

    /// At the speed of a slow network, and with a small buffer, so that little is in transit when the client is killed,
    /// even if it has not run for a while.
    private static let configuration = """
        daemon off; master_process off; pid FOLDER/nginx.pid; error_log FOLDER/error.log;
        events { worker_connections 64; }
        http {
            log_format sent '$http_range $body_bytes_sent'; access_log FOLDER/files/sent.log sent; root FOLDER/files;
            client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3;
            uwsgi_temp_path FOLDER/t4; scgi_temp_path FOLDER/t5;
            server { listen 127.0.0.1:PORT0 sndbuf=32k; limit_rate 500k; }
        }
        """

    /// A response that the server has logged: the place in the file where it begins, and the bytes of its body.
    private struct Sent {
        var start: Int
        var count: Int
        var end: Int { start + count }
    }

    /// Waits until the server has logged the end of the file, and returns all responses.
    private func sent(_ count: Int, _ log: String) async throws -> [Sent] {
        while true {
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            let sent = try lines.map { line in
                let words = line.split(separator: " ")
                return Sent(
                    start: words[0] == "-" ? 0 : try #require(Int(words[0].dropFirst("bytes=".count).dropLast())),
                    count: try #require(Int(words[1])))
            }
            if sent.contains(where: { $0.end == count }) {
                return sent.sorted { ($0.start, $0.count) < ($1.start, $1.count) }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test func `after each of 20 kills, some of a paused download, little is fetched twice`() async throws {
        let count = 10 << 20, content = TransferFixture.content(count)
        let places = (0..<20).map { _ in Int.random(in: 1..<count) }.sorted()
        try await PeerServer.withNginx(configuration: Self.configuration) { server in
            try Data(content).write(to: URL(filePath: server.folder + "/whale.epub"))
            let url = "http://127.0.0.1:\(server.ports[0])/whale.epub"
            for (kill, place) in places.enumerated() {
                let isPaused = kill % 2 == 1
                let first = ["begin", fixture.folder, url, fixture.path()], later = ["resume", fixture.folder]
                let worker = try WorkerProcess((kill == 0 ? first : later) + (isPaused ? ["\(place)"] : []))
                // One that pauses itself may have done so before it is read.
                while worker.lastBytes("running") ?? worker.lastBytes("paused") ?? -1 < place, worker.read() {}
                if isPaused { while worker.lastBytes("paused") == nil, worker.read() {} }
                worker.kill()
                #expect(!worker.text.contains("error"), "\(places), kill \(kill): \(worker.text.suffix(500))")
            }
            let last = try WorkerProcess("resume", fixture.folder)
            last.end()
            #expect(last.text.hasSuffix("succeeded \(count)\n"), "\(places): \(last.text.suffix(500))")
            #expect(try fixture.bytes() == content, "\(places)")
            let sent = try await self.sent(count, server.folder + "/sent.log")
            #expect((2...places.count + 1).contains(sent.count), "\(places): \(sent)")
            for (one, next) in zip(sent, sent.dropFirst()) {
                #expect(0...1_000_000 ~= one.end - next.start, "\(places): \(one), then \(next)")
            }
        }
    }

    @Test func `a file that changes on the server is loaded anew`() async throws {
        let first = TransferFixture.content(6_000_000), second = TransferFixture.content(500_000, seed: 7)
        try await PeerServer.withNginx(configuration: Self.configuration) { server in
            let file = URL(filePath: server.folder + "/whale.epub")
            try Data(first).write(to: file)
            let pool = try await fixture.pool()
            try await pool.begin(fixture.download("http://127.0.0.1:\(server.ports[0])/whale.epub"))
            try await pool.state { $0.bytes >= 100_000 }
            try await pool.pause("whale")
            try Data(second).write(to: file)
            try await pool.resume("whale")
            let state = try await pool.end()
            #expect(state.phase == .succeeded && state.restart == .changed, "\(state)")
            #expect(try fixture.bytes() == second)
        }
    }
}
