import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHTTP

/// Exchanges over TLS and HTTP/2, by an executor that trusts the authority of the servers alone.
@Suite(.timeLimit(.minutes(5)))
struct SecureExchangeTests {
    /// Runs a step with a server that reports the requests that it receives.
    private func with(
        _ identity: TestIdentity = .server, offersHTTP2: Bool = true,
        _ step: (SecureTestServer, AsyncHTTPClientExecutor) async throws -> Void
    ) async throws {
        try await SecureTestServer.with(identity, offersHTTP2: offersHTTP2) { request in
            .init(body: Array("\(request.method) \(request.target) \(request.bodyCount)".utf8))
        } _: { server, files in
            let executor = AsyncHTTPClientExecutor(trustRoots: files.path + "/ca.pem", proxies: .none)
            try await step(server, executor)
            await executor.shutdown()
        }
    }

    @Test func `HTTP/1.1 is used where the server offers nothing else`() async throws {
        try await with(offersHTTP2: false) { server, executor in
            let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
            #expect(response.version == "HTTP/1.1" && response.status == 200)
        }
    }

    @Test(arguments: [TestIdentity.expired, .otherHost, .strangeServer, .selfSigned])
    func `a server with another certificate is refused, and no request arrives`(identity: TestIdentity) async throws {
        try await with(identity) { server, executor in
            let error = await error { try await executor.execute(HTTPRequest("GET", server.url("/?secret"))) }
            #expect(error?.code == .networkInsecure && error?.message.contains("no secure connection") == true)
            #expect(server.requestCount == 0)
        }
    }

    @Test func `HTTP/2 is used where the server offers it, for many exchanges on one connection`() async throws {
        try await with { server, executor in
            let first = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
            #expect(first.version == "HTTP/2")
            _ = try await first.collect()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...40 {
                    group.addTask {
                        let response = try await executor.execute(
                            HTTPRequest("POST", server.url("/\(number)"), body: .pattern(count: number * 1000)))
                        #expect(response.body == Array("POST /\(number) \(number * 1000)".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.requestCount == 41)
        }
    }
}

/// Roots and versions of TLS for single hosts.
@Suite(.timeLimit(.minutes(5)))
struct TLSSettingsTests {
    private func network(_ settings: TLSSettings) -> HTTPPipeline {
        HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": settings])
    }

    private func failure(_ network: HTTPPipeline, _ url: String) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await network.send(HTTPRequest("GET", url)) }
    }

    @Test func `another spelling of a host's name does not evade its settings`() async {
        // An executor that cannot follow them refuses requests to which they apply.
        let network = HTTPPipeline([URLSessionExecutor()], tls: ["books.test": TLSSettings(minimum: .tls13)])
        for host in ["books.test", "BOOKS.test", "books.test.", "Books.Test."] {
            #expect(await failure(network, "https://\(host):1/")?.code == .networkUnsupported, "\(host)")
        }
        let names = ["xn--bcher-kva.test", "b\u{FC}cher.test", "B\u{DC}CHER.test"]
        for name in names {
            let international = HTTPPipeline([URLSessionExecutor()], tls: [name: TLSSettings(minimum: .tls13)])
            for host in names + ["b\u{FC}cher.test."] {
                let error = await failure(international, "https://\(host):1/")
                #expect(error?.code == .networkUnsupported, "\(name), \(host)")
            }
        }
    }

    @Test func `roots are those of one host, by the name in the URL`() async throws {
        try await SecureTestServer.with { server, files in
            let network = network(TLSSettings(roots: files.path + "/ca.pem"))
            for host in ["localhost", "LOCALHOST"] {
                let response = try await network.send(HTTPRequest("GET", server.url(host: host)))
                #expect(response.body == Array("hello".utf8))
            }
            let other = await failure(network, server.url(host: "127.0.0.1"))
            #expect(other?.code == .networkInsecure && other?.message.contains("no secure connection") == true)
            #expect(server.requestCount == 2)
        }
    }

    @Test func `a self-signed certificate is trusted where it is a root itself, and nowhere else`() async throws {
        let own = TestIdentity.selfSigned
        try await SecureTestServer.with(own) { server, files in
            try Data(own.certificate.utf8).write(to: URL(filePath: files.path + "/own.pem"))
            for (roots, isTrusted) in [("own.pem", true), ("ca.pem", false)] {
                let network = network(TLSSettings(roots: "\(files.path)/\(roots)"))
                if isTrusted {
                    #expect(try await network.send(HTTPRequest("GET", server.url())).status == 200)
                } else {
                    #expect(await failure(network, server.url())?.code == .networkInsecure)
                }
            }
            #expect(server.requestCount == 1)
        }
    }

    @Test func `a redirect from https to http is refused, and nothing is sent there`() async throws {
        let sent = Recording<String>()
        let plain = try TestServer { request, connection in
            sent.add(request.target)
            connection.answer("200 OK")
        }
        try await SecureTestServer.with { _ in
            .init(status: 302, headers: [("Location", plain.url("/there"))])
        } _: { secure, files in
            let http = HTTPClient(network(TLSSettings(roots: files.path + "/ca.pem"))).relative(to: secure.url())
            var endpoint = Endpoint<String>("GET", "start")
            endpoint.retry = RetryPolicy()
            let error = await http.failure(of: endpoint)
            #expect(error?.code == .networkRedirect && error?.message.contains("from https to http") == true)
            #expect(secure.requestCount == 1 && sent.all == [])
        }
    }

    @Test func `a server whose versions are all too low is refused`() async throws {
        try await SecureTestServer.with(speaksTLS13: false) { server, files in
            func network(_ minimum: TLSSettings.Version) -> HTTPPipeline {
                self.network(TLSSettings(roots: files.path + "/ca.pem", minimum: minimum))
            }
            let response = try await network(.tls12).send(HTTPRequest("GET", server.url()))
            #expect(response.status == 200)
            let error = await failure(network(.tls13), server.url())
            #expect(error?.code == .networkInsecure && error?.message.contains("no secure connection") == true)
            #expect(server.requestCount == 1)
        }
    }

    @Test func `roots that cannot be read fail the exchange, and are not replaced by others`() async throws {
        try await SecureTestServer.with { server, files in
            let network = HTTPPipeline(
                [AsyncHTTPClientExecutor(trustRoots: files.path + "/ca.pem", proxies: .none)],
                tls: ["localhost": TLSSettings(roots: files.path + "/missing.pem")])
            #expect(await failure(network, server.url())?.code == .networkInsecure)
            #expect(server.requestCount == 0)
        }
    }

    @Test func `certificates that are replaced at their path are read again`() async throws {
        try await SecureTestServer.with { server, files in
            let network = network(TLSSettings(roots: files.path + "/ca.pem"))
            let request = HTTPRequest("GET", server.url())
            for (authority, isTrusted) in [
                (TestIdentity.servers, true), (.strangers, false), (.servers, true),
            ] {
                try Data(authority.certificate.utf8).write(to: URL(filePath: files.path + "/ca.pem"), options: .atomic)
                if isTrusted {
                    #expect(try await network.send(request).status == 200)
                } else {
                    #expect(await failure(network, request.url)?.message.contains("no secure connection") == true)
                }
            }
        }
    }

    /// Writes an identity to `me.pem` and `me.key` of a folder.
    private func write(_ identity: TestIdentity, in files: TestFolder) throws {
        try Data(identity.certificate.utf8).write(to: URL(filePath: files.path + "/me.pem"), options: .atomic)
        try Data(identity.key.utf8).write(to: URL(filePath: files.path + "/me.key"), options: .atomic)
    }

    @Test(arguments: [true, false])
    func `a server that asks for a certificate is shown that of its host, also after it is replaced`(speaksTLS13: Bool)
        async throws
    {
        try await SecureTestServer.with(speaksTLS13: speaksTLS13, clients: .clients) { server, files in
            let without = network(TLSSettings(roots: files.path + "/ca.pem"))
            #expect(await failure(without, server.url()) != nil, "the server accepts nobody without a certificate")
            let own = network(
                TLSSettings(
                    roots: files.path + "/ca.pem", certificate: files.path + "/me.pem", key: files.path + "/me.key"))
            // Another authority's certificate is refused, and the right one is taken from the same files afterwards.
            for (identity, isAccepted) in [
                (TestIdentity.ann, true), (.strangeClient, false), (.bob, true),
            ] {
                try write(identity, in: files)
                if isAccepted {
                    #expect(try await own.send(HTTPRequest("GET", server.url())).status == 200)
                } else {
                    #expect(await failure(own, server.url()) != nil)
                }
            }
            #expect(server.requestCount == 2)
        }
    }

    @Test func `a certificate and its key may be in one file, and what cannot be read fails the exchange`() async throws
    {
        let identity = TestIdentity.ann
        try await SecureTestServer.with(clients: .clients) { server, files in
            func network(_ certificate: String, _ key: String? = nil) -> HTTPPipeline {
                let settings = TLSSettings(
                    roots: files.path + "/ca.pem", certificate: files.path + "/" + certificate,
                    key: key.map { files.path + "/" + $0 })
                return HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": settings])
            }
            try write(identity, in: files)
            try Data((identity.certificate + identity.key).utf8).write(to: URL(filePath: files.path + "/both.pem"))
            #expect(try await network("both.pem").send(HTTPRequest("GET", server.url())).status == 200)
            for (certificate, key, words) in [
                ("missing.pem", "me.key", "`\(files.path)/missing.pem` cannot be read"),
                ("me.pem", "missing.key", "`\(files.path)/missing.key` of the client certificate cannot be read"),
                ("me.pem", "me.pem", "`\(files.path)/me.pem` of the client certificate cannot be read"),
            ] {
                let error = await failure(network(certificate, key), server.url())
                #expect(error?.code == .networkInsecure && error?.message.contains(words) == true, "\(error as Any)")
            }
            try Data(TestIdentity.bob.key.utf8).write(to: URL(filePath: files.path + "/other.key"))
            #expect(await failure(network("me.pem", "other.key"), server.url())?.code == .networkInsecure)
            #expect(server.requestCount == 1)
        }
    }

    @Test func `the manifest names certificate and key, from its folder`() async throws {
        try await SecureTestServer.with(clients: .clients) { server, files in
            try write(.ann, in: files)
            let path = files.path + "/manifest.json"
            func document(_ settings: String) throws -> ManifestDocument {
                try Data(
                    #"{"manifestVersion": 1, "managers": {}, "network": {"tls": {"localhost": \#(settings)}}}"#.utf8
                ).write(to: URL(filePath: path))
                return ManifestDocument(contentsOf: path)
            }
            let manifest = try document(#"{"roots": "ca.pem", "certificate": "me.pem", "key": "me.key"}"#)
            #expect(manifest.problems.isEmpty, "\(manifest.problems)")
            #expect(manifest.manifest.network.tls["localhost"]?.certificate == "me.pem")
            let host = PluginHost(
                manifest: manifest,
                options: HostOptions(
                    dataFolder: files.path + "/data", executors: [AsyncHTTPClientExecutor(proxies: .none)])
            )
            try await host.start()
            #expect(try await host.network.send(HTTPRequest("GET", server.url())).status == 200)
            try await host.apply(document(#"{"minimum": "1.2"}"#))
            let untrusted = await failure(host.network, server.url())
            #expect(untrusted?.message.contains("no secure connection") == true)
            await host.stop()
            let lonely = try document(#"{"key": "me.key"}"#)
            #expect(lonely.problems.map(\.error.code) == [.manifestMissingKey])
        }
    }

    @Test func `of many clients the least recently used end first, and those in use do not`() throws {
        let clients = HTTPClients(
            connectTimeout: .seconds(10), connectionsPerHost: 1, trustRoots: nil, unusedLimit: .seconds(3_600))
        defer { clients.close() }
        func use(_ tls: TLSSettings?) throws -> PooledClient {
            try clients.client(clients.key(scheme: "https", proxy: nil, tls: tls))
        }
        let plain = try use(nil).client, used = try use(TLSSettings(minimum: .tls12))
        let all = try (0..<HTTPClients.most).map { try use(TLSSettings(roots: "\($0).pem")).client }
        #expect(clients.count == HTTPClients.most)
        for number in Array(2..<HTTPClients.most) + [0, 1] {
            let client = try use(TLSSettings(roots: "\(number).pem")).client
            #expect((client === all[number]) == (number > 1), "\(number)")
        }
        let held = try (0..<40).map { try use(TLSSettings(roots: "held \($0).pem")) }
        #expect(clients.count == held.count + 2, "those in use are more")
        #expect(try use(nil).client === plain)
        #expect(try use(TLSSettings(minimum: .tls12)).client === used.client)
    }
}
