import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Testing

@testable import BackplaneHTTP

/// Roots and versions of TLS for single hosts.
@Suite(.timeLimit(.minutes(5)))
struct TLSSettingsTests {
    /// Runs a test with a server, and with a folder that has the certificate of the servers' authority as `ca.pem`.
    private func with(
        _ identity: TestIdentity = .server, speaksTLS13: Bool = true, clients: TestIdentity? = nil,
        _ body: (SecureTestServer, String) async throws -> Void
    ) async throws {
        let files = try TestFolder(), folder = files.path
        try Data(TestIdentity.servers.certificate.utf8).write(to: URL(filePath: folder + "/ca.pem"))
        let server = try await SecureTestServer(
            identity, speaksTLS13: speaksTLS13, clients: clients
        ) { _ in
            .init(body: Array("hello".utf8))
        }
        do { try await body(server, folder) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
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
        try await with { server, folder in
            let network = HTTPPipeline(
                [AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": TLSSettings(roots: folder + "/ca.pem")])
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
        try await with(own) { server, folder in
            try Data(own.certificate.utf8).write(to: URL(filePath: folder + "/own.pem"))
            for (roots, isTrusted) in [("own.pem", true), ("ca.pem", false)] {
                let network = HTTPPipeline(
                    [AsyncHTTPClientExecutor(proxies: .none)],
                    tls: ["localhost": TLSSettings(roots: "\(folder)/\(roots)")])
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
        let secure = try await SecureTestServer(.server) { _ in
            .init(status: 302, headers: [("Location", plain.url("/there"))])
        }
        let files = try TestFolder(), folder = files.path
        try Data(TestIdentity.servers.certificate.utf8).write(to: URL(filePath: folder + "/ca.pem"))
        let network = HTTPPipeline(
            [AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": TLSSettings(roots: folder + "/ca.pem")])
        let http = HTTPClient(network).relative(to: secure.url())
        let error = await #expect(throws: BackplaneError.self) {
            var endpoint = Endpoint<String>("GET", "start")
            endpoint.retry = RetryPolicy()
            return try await http.load(endpoint)
        }
        #expect(error?.code == .networkRedirect && error?.message.contains("from https to http") == true)
        #expect(secure.requestCount == 1 && sent.all == [])
        await secure.stop()
    }

    @Test func `a server whose versions are all too low is refused`() async throws {
        try await with(speaksTLS13: false) { server, folder in
            func network(_ minimum: TLSSettings.Version) -> HTTPPipeline {
                HTTPPipeline(
                    [AsyncHTTPClientExecutor(proxies: .none)],
                    tls: ["localhost": TLSSettings(roots: folder + "/ca.pem", minimum: minimum)])
            }
            let response = try await network(.tls12).send(HTTPRequest("GET", server.url()))
            #expect(response.status == 200)
            let error = await failure(network(.tls13), server.url())
            #expect(error?.code == .networkInsecure && error?.message.contains("no secure connection") == true)
            #expect(server.requestCount == 1)
        }
    }

    @Test func `roots that cannot be read fail the exchange, and are not replaced by others`() async throws {
        try await with { server, folder in
            let network = HTTPPipeline(
                [AsyncHTTPClientExecutor(trustRoots: folder + "/ca.pem", proxies: .none)],
                tls: ["localhost": TLSSettings(roots: folder + "/missing.pem")])
            #expect(await failure(network, server.url())?.code == .networkInsecure)
            #expect(server.requestCount == 0)
        }
    }

    @Test func `certificates that are replaced at their path are read again`() async throws {
        try await with { server, folder in
            let network = HTTPPipeline(
                [AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": TLSSettings(roots: folder + "/ca.pem")])
            let request = HTTPRequest("GET", server.url())
            for (authority, isTrusted) in [
                (TestIdentity.servers, true), (.strangers, false), (.servers, true),
            ] {
                try Data(authority.certificate.utf8).write(to: URL(filePath: folder + "/ca.pem"), options: .atomic)
                if isTrusted {
                    #expect(try await network.send(request).status == 200)
                } else {
                    #expect(await failure(network, request.url)?.message.contains("no secure connection") == true)
                }
            }
        }
    }

    /// Writes an identity to `me.pem` and `me.key` of a folder.
    private func write(_ identity: TestIdentity, in folder: String) throws {
        try Data(identity.certificate.utf8).write(to: URL(filePath: folder + "/me.pem"), options: .atomic)
        try Data(identity.key.utf8).write(to: URL(filePath: folder + "/me.key"), options: .atomic)
    }

    @Test(arguments: [true, false])
    func `a server that asks for a certificate is shown that of its host, also after it is replaced`(speaksTLS13: Bool)
        async throws
    {
        try await with(speaksTLS13: speaksTLS13, clients: .clients) { server, folder in
            func network(_ settings: TLSSettings) -> HTTPPipeline {
                HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": settings])
            }
            let without = network(TLSSettings(roots: folder + "/ca.pem"))
            #expect(await failure(without, server.url()) != nil, "the server accepts nobody without a certificate")
            let own = network(
                TLSSettings(
                    roots: folder + "/ca.pem", certificate: folder + "/me.pem", key: folder + "/me.key"))
            // Another authority's certificate is refused, and the right one is taken from the same files afterwards.
            for (identity, isAccepted) in [
                (TestIdentity.ann, true), (.strangeClient, false), (.bob, true),
            ] {
                try write(identity, in: folder)
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
        try await with(clients: .clients) { server, folder in
            func network(_ certificate: String, _ key: String? = nil) -> HTTPPipeline {
                let settings = TLSSettings(
                    roots: folder + "/ca.pem", certificate: folder + "/" + certificate,
                    key: key.map { folder + "/" + $0 })
                return HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": settings])
            }
            try write(identity, in: folder)
            try Data((identity.certificate + identity.key).utf8).write(to: URL(filePath: folder + "/both.pem"))
            #expect(try await network("both.pem").send(HTTPRequest("GET", server.url())).status == 200)
            for (certificate, key, words) in [
                ("missing.pem", "me.key", "`\(folder)/missing.pem` cannot be read"),
                ("me.pem", "missing.key", "`\(folder)/missing.key` of the client certificate cannot be read"),
                ("me.pem", "me.pem", "`\(folder)/me.pem` of the client certificate cannot be read"),
            ] {
                let error = await failure(network(certificate, key), server.url())
                #expect(error?.code == .networkInsecure && error?.message.contains(words) == true, "\(error as Any)")
            }
            try Data(TestIdentity.bob.key.utf8).write(to: URL(filePath: folder + "/other.key"))
            #expect(await failure(network("me.pem", "other.key"), server.url())?.code == .networkInsecure)
            #expect(server.requestCount == 1)
        }
    }

    @Test func `the manifest names certificate and key, from its folder`() async throws {
        try await with(clients: .clients) { server, folder in
            try write(.ann, in: folder)
            let path = folder + "/manifest.json"
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
                options: HostOptions(dataFolder: folder + "/data", executors: [AsyncHTTPClientExecutor(proxies: .none)])
            )
            #expect(try await host.network.send(HTTPRequest("GET", server.url())).status == 200)
            await host.stop()
            let lonely = try document(#"{"key": "me.key"}"#)
            #expect(lonely.problems.map(\.error.code) == [.manifestMissingKey])
        }
    }

    @Test func `of many clients the least recently used end first, and those in use do not`() throws {
        let clients = HTTPClients(
            connectTimeout: .seconds(10), connectionsPerHost: 1, trustRoots: nil, unusedLimit: .seconds(3_600))
        defer { clients.close() }
        func use(_ tls: TLSSettings?) throws -> ClientUse {
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

    @Test func `an executor that cannot follow the settings sends nothing`() async throws {
        let network = HTTPPipeline([URLSessionExecutor()], tls: ["127.0.0.1": TLSSettings(minimum: .tls13)])
        let error = await failure(network, "https://127.0.0.1:9/")
        #expect(error?.code == .networkUnsupported)
        #expect(error?.message.contains("TLS settings") == true)
        #expect(await failure(network, "http://127.0.0.1:9/")?.code == .networkFailed, "without TLS they do not matter")
    }

    @Test func `a host follows its manifest, with paths from the manifest's folder`() async throws {
        try await with { server, folder in
            let key = UUID().uuidString
            func document(_ network: String) throws -> ManifestDocument {
                let path = folder + "/manifest.json"
                let text = """
                    {"manifestVersion": 1, "plugins": [], "network": \(network), "managers": {"LendingManager": {
                      "className": "LendingManager", "communicationController": {
                        "className": "LendingCommunication", "configuration": {"key": "\(key)"}}}}}
                    """
                try Data(text.utf8).write(to: URL(filePath: path))
                return ManifestDocument(contentsOf: path)
            }
            let options = HostOptions(
                dataFolder: folder + "/data", executors: [AsyncHTTPClientExecutor(proxies: .none)],
                occupationLimit: nil)
            let host = PluginHost(
                manifest: try document(#"{"tls": {"localhost": {"roots": "ca.pem", "minimum": "1.2"}}}"#),
                plugins: [LendingPlugin.self], options: options)
            try await host.start()
            let context = try LendingCommunication.context(key)
            let request = HTTPRequest("GET", server.url())
            let response = try await context.http.send(request, context.begin())
            #expect(response.status == 200)
            try await host.apply(document("{}"))
            let error = await #expect(throws: BackplaneError.self) {
                try await context.http.send(request, context.begin())
            }
            #expect(error?.message.contains("no secure connection") == true)
            await host.stop()
        }
    }
}
