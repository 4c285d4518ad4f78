#if Engines
import Backplane
public import BackplaneExchange
import BackplaneNetwork
import Foundation

extension HTTPConformance {
    /// Runs an executor through the cases with TLS and HTTP/2, one after another.
    ///
    /// - Parameters:
    ///   - limit: The time limit of each case.
    ///   - make: A function that creates an executor that trusts the certificates in a PEM file, and no others.
    public static func runSecure(
        limit: Duration = .seconds(60), _ make: @escaping @Sendable (_ trustRoots: String) throws -> any HTTPExecutor
    ) async -> Report {
        let authority = CertificateAuthority()
        let file = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        do { try Data(authority.certificate.utf8).write(to: file) } catch {
            return Report(results: [.init(name: "the authority's certificate is written", outcome: .failed("\(error)"))]
            )
        }
        return await run(secure(authority), limit: limit) { try make(file.path) }
    }

    private static func secure(_ authority: CertificateAuthority) -> [Case] {
        [
            Case("a trusted server answers, by its name and its address") { executor in
                try await withServer(authority.identity()) { server in
                    for host in ["localhost", "127.0.0.1"] {
                        let response = try await executor.execute(HTTPRequest("GET", server.url("/a?b", host: host)))
                        try expect(String(decoding: response.body, as: UTF8.self), "GET /a?b 0", "the body")
                    }
                }
            },
            Case("HTTP/1.1 is used where the server offers nothing else") { executor in
                try await withServer(authority.identity(), offersHTTP2: false) { server in
                    let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
                    try expect(
                        ["HTTP/1.1", nil].contains(response.version), "the version is \(response.version ?? "")")
                    try expect(response.status, 200, "the status")
                }
            },
            Case("expired, foreign, untrusted and self-signed certificates are refused, and no request arrives") {
                executor in
                let cases = [
                    ("expired", authority.identity(isExpired: true)),
                    ("another host's", authority.identity(for: ["books.example.org"])),
                    ("another authority's", CertificateAuthority(name: "Stranger").identity()),
                    ("its own", CertificateAuthority.selfSigned()),
                ]
                for (what, identity) in cases {
                    try await withServer(identity) { server in
                        let error = try await failure(what) {
                            try await executor.execute(HTTPRequest("GET", server.url("/?secret")))
                        }
                        try expect(error.code, .networkInsecure, "the code for a certificate that is \(what)")
                        try expect(
                            error.message.contains("no secure connection"), "the message for \(what): \(error.message)")
                        try expect(server.requestCount, 0, "the requests that arrived despite \(what)")
                    }
                }
            },
            Case("HTTP/2 is used where the server offers it, for many exchanges on one connection", needs: .http2) {
                executor in
                try await withServer(authority.identity()) { server in
                    let first = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
                    try expect(first.version, "HTTP/2", "the version")
                    _ = try await first.collect()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 1...40 {
                            group.addTask {
                                let response = try await executor.execute(
                                    HTTPRequest("POST", server.url("/\(number)"), body: .pattern(count: number * 1000)))
                                try expect(
                                    String(decoding: response.body, as: UTF8.self),
                                    "POST /\(number) \(number * 1000)", "the response")
                            }
                        }
                        try await group.waitForAll()
                    }
                    try expect(server.requestCount, 41, "the requests")
                }
            },
            Case("over HTTP/2 too, an unread body is not received", needs: [.http2, .backPressure]) {
                executor in
                try await withServer(authority.identity()) { server in
                    let response = try await executor.open(HTTPRequest("GET", server.url("/large")), HTTPOptions())
                    var body = response.body.makeAsyncIterator()
                    var count = try await body.next()?.count ?? 0, last = -1, quiet = 0
                    while quiet < 25 {
                        quiet = server.sentChunks == last ? quiet + 1 : 0
                        last = server.sentChunks
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    // AsyncHTTPClient's window is 8 MB; the body has 64.
                    try expect(last < 512, "\(last) of 1024 chunks were sent although none is read")
                    while let chunk = try await body.next() { count += chunk.count }
                    try expect(count, 1024 << 16, "the bytes of the body")
                }
            },
        ]
    }

    /// Runs a step with a server that reports the requests that it receives and serves a large body.
    private static func withServer(
        _ identity: CertificateAuthority.Identity, offersHTTP2: Bool = true,
        _ step: (SecureTestServer) async throws -> Void
    ) async throws {
        let server = try await SecureTestServer(identity, offersHTTP2: offersHTTP2) { request in
            if request.target == "/large" {
                return .init(body: [UInt8](repeating: 0, count: 1 << 16), repetitions: 1024)
            }
            return .init(body: Array("\(request.method) \(request.target) \(request.bodyCount)".utf8))
        }
        do { try await step(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}
#endif
