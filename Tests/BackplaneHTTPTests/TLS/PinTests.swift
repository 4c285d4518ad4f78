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

/// Pins of the keys that the servers of single hosts may have.
@Suite(.timeLimit(.minutes(5)))
struct PinTests {
    private func network(
        _ pins: [CertificatePin], _ files: TestFolder, reportsOnly: Bool = false,
        observers: [@Sendable (ExchangeEvent) -> Void] = []
    ) -> HTTPPipeline {
        let settings = TLSSettings(roots: files.path + "/ca.pem", pins: pins, reportsOnly: reportsOnly)
        return HTTPPipeline(
            [AsyncHTTPClientExecutor(proxies: .none)], tls: ["localhost": settings], observers: observers)
    }

    private func failure(_ network: HTTPPipeline, _ url: String) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await network.send(HTTPRequest("GET", url)) }
    }

    /// Pins of other servers' keys.
    private static let others = [TestIdentity.expired.pin, TestIdentity.otherHost.pin]

    @Test(arguments: [true, false])
    func `no request arrives at a server with another key, and none is repeated`(offersHTTP2: Bool) async throws {
        try await SecureTestServer.with(offersHTTP2: offersHTTP2) { server, files in
            let network = network(Self.others, files), attempts = Recording<BackplaneError.Code?>()
            var options = HTTPOptions()
            options.retry = RetryPolicy(attempts: 3)
            options.attempted = { attempts.add($0.error) }
            let chosen = options
            let error = await error { try await network.send(HTTPRequest("GET", server.url("/?secret")), chosen) }
            #expect(error?.code == .networkPinMismatch && error?.networkNumber == 24, "\(error as Any)")
            #expect(error?.message.contains("localhost:\(server.port)") == true, "\(error as Any)")
            #expect(error?.message.contains("\(TestIdentity.server.pin)") == true, "\(error as Any)")
            #expect(attempts.all == [.networkPinMismatch])
            #expect(server.requestCount == 0)
        }
    }

    @Test(arguments: [true, false])
    func `of many requests at once each has that error, and none is cancelled`(offersHTTP2: Bool) async throws {
        try await SecureTestServer.with(offersHTTP2: offersHTTP2) { server, files in
            let network = network(Self.others, files), url = server.url()
            let codes = await withTaskGroup(of: BackplaneError.Code?.self) { group in
                for _ in 0..<20 { group.addTask { await failure(network, url)?.code } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(codes == [.networkPinMismatch])
            #expect(server.requestCount == 0)
        }
    }

    @Test(arguments: [true, false])
    func `the key of the backup pin is enough`(offersHTTP2: Bool) async throws {
        try await SecureTestServer.with(offersHTTP2: offersHTTP2) { server, files in
            let network = network([TestIdentity.expired.pin, TestIdentity.server.pin], files)
            for _ in 0..<3 {
                let response = try await network.open(HTTPRequest("GET", server.url()))
                #expect(response.version == (offersHTTP2 ? "HTTP/2" : "HTTP/1.1"))
                #expect(try await response.collect().body == Array("hello".utf8))
            }
        }
    }

    @Test func `a pinned key does not replace trust in the certificate`() async throws {
        try await SecureTestServer.with(.strangeServer) { server, files in
            let network = network([TestIdentity.strangeServer.pin, TestIdentity.server.pin], files)
            #expect(await failure(network, server.url())?.code == .networkInsecure)
            #expect(server.requestCount == 0)
        }
    }

    @Test func `the key of the authority is not that of the server, although the server sends it`() async throws {
        try await SecureTestServer.with(.server.followed(by: .servers)) { server, files in
            let network = network([TestIdentity.servers.pin, TestIdentity.expired.pin], files)
            #expect(await failure(network, server.url())?.code == .networkPinMismatch)
            #expect(server.requestCount == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a mismatch that is only reported is reported once for a connection`(offersHTTP2: Bool) async throws {
        try await SecureTestServer.with(offersHTTP2: offersHTTP2) { server, files in
            let reports = Recording<ExchangeEvent>()
            let network = network(
                Self.others, files, reportsOnly: true,
                observers: [{ event in if event.stage == .pinMismatch { reports.add(event) } }])
            for _ in 0..<3 {
                let response = try await network.send(HTTPRequest("GET", server.url()))
                #expect(response.body == Array("hello".utf8))
            }
            #expect(reports.all.map(\.error) == ["network.pin-mismatch"])
            #expect(reports.all.first?.failure?.message.contains("\(TestIdentity.server.pin)") == true)
            #expect(server.requestCount == 3)
        }
    }

    @Test func `pins that cannot be compared do not fail an exchange if mismatches are only reported`() async throws {
        try await SecureTestServer.with { server, files in
            for (pins, words) in [
                ([TestIdentity.server.pin, TestIdentity.expired.pin], nil),
                ([.file(files.path + "/none.pem"), TestIdentity.server.pin], "`\(files.path)/none.pem` of a pin"),
                ([TestIdentity.expired.pin], "backup"),
            ] as [([CertificatePin], String?)] {
                let reports = Recording<ExchangeEvent>()
                let network = network(
                    pins, files, reportsOnly: true,
                    observers: [{ event in if event.stage == .pinMismatch { reports.add(event) } }])
                let response = try await network.send(HTTPRequest("GET", server.url()))
                #expect(response.status == 200)
                // A key that is pinned has no report.
                #expect(reports.all.map(\.error) == (words == nil ? [] : ["network.insecure"]))
                if let words { #expect(reports.all.first?.failure?.message.contains(words) == true, "\(reports.all)") }
            }
        }
    }

    @Test func `a host refuses and logs as its manifest says, with files from the manifest's folder`() async throws {
        try await SecureTestServer.with { server, files in
            func document(_ settings: String) throws -> ManifestDocument {
                let host = #"{"roots": "ca.pem", \#(settings)}"#
                let text = #"{"manifestVersion": 1, "managers": {}, "network": {"tls": {"localhost": \#(host)}}}"#
                return ManifestDocument(contentsOf: try files.write(Array(text.utf8), as: "manifest.json"))
            }
            try files.write(Array(TestIdentity.otherHost.certificate.utf8), as: "backup.pem")
            let pins = #""pins": ["\#(TestIdentity.expired.pin)", "backup.pem"]"#
            for reportsOnly in [false, true] {
                let manifest = try document(pins + #", "reportOnly": \#(reportsOnly)"#), log = TestLog()
                #expect(manifest.problems.isEmpty, "\(manifest.problems)")
                var options = HostOptions(
                    dataFolder: files.path + "/data", executors: [AsyncHTTPClientExecutor(proxies: .none)])
                options.log = log
                let host = PluginHost(manifest: manifest, options: options)
                if reportsOnly {
                    #expect(try await host.network.send(HTTPRequest("GET", server.url())).status == 200)
                } else {
                    #expect(await failure(host.network, server.url())?.code == .networkPinMismatch)
                }
                await host.stop()
                let records = log.records.filter { $0.message == "a server has a key that is not pinned" }
                #expect(records.map(\.level) == (reportsOnly ? [.warning] : []))
                #expect(records.first?.metadata["error"]?.contains("\(TestIdentity.server.pin)") != false)
            }
            #expect(server.requestCount == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a host does not start with pins that cannot be compared`(reportsOnly: Bool) async throws {
        let files = try TestFolder()
        try files.write(Array(TestIdentity.server.certificate.utf8), as: "own.pem")
        for (pins, words) in [
            (#""own.pem", "none.pem""#, "`\(files.path)/none.pem` of a pin"),
            (#""own.pem", "\#(TestIdentity.server.pin)""#, "there is one pinned key"),
        ] {
            let tls = #"{"books.test": {"pins": [\#(pins)], "reportOnly": \#(reportsOnly)}}"#
            let text = #"{"manifestVersion": 1, "plugins": [], "managers": {}, "network": {"tls": \#(tls)}}"#
            let document = ManifestDocument(contentsOf: try files.write(Array(text.utf8), as: "manifest.json"))
            let host = PluginHost(manifest: document, options: HostOptions(dataFolder: files.path + "/data"))
            let error = await #expect(throws: BackplaneError.self) { try await host.start() }
            #expect(error?.code == .networkInsecure && error?.location == "/network/tls/books.test/pins")
            #expect(error?.message.contains(words) == true, "\(error as Any)")
            await host.stop()
        }
    }

    @Test func `a certificate file is a pin, and is read again once it is replaced`() async throws {
        try await SecureTestServer.with { server, files in
            func write(_ identity: TestIdentity, as name: String) throws {
                try Data(identity.certificate.utf8)
                    .write(to: URL(filePath: files.path + "/" + name), options: .atomic)
            }
            let own = files.path + "/own.pem", url = server.url()
            let network = network([.file(own), .file(files.path + "/backup.pem")], files)
            try write(.expired, as: "backup.pem")
            // The connection of the first exchange is kept open, and is not used with other pins.
            for (identity, isAccepted) in [(TestIdentity.server, true), (.otherHost, false), (.server, true)] {
                try write(identity, as: "own.pem")
                if isAccepted {
                    #expect(try await network.send(HTTPRequest("GET", url)).status == 200)
                } else {
                    #expect(await failure(network, url)?.code == .networkPinMismatch)
                }
            }
            try FileManager.default.removeItem(atPath: own)
            let missing = await failure(network, url)
            #expect(missing?.code == .networkInsecure && missing?.message.contains("`\(own)`") == true)
            try files.write(Array("no certificate".utf8), as: "own.pem")
            #expect(await failure(network, url)?.code == .networkInsecure)
            #expect(server.requestCount == 2)
        }
    }

    @Test func `pins of one key fail the exchange, because they have no backup`() async throws {
        try await SecureTestServer.with { server, files in
            let own = TestIdentity.server.pin
            let file = CertificatePin.file(
                try files.write(Array(TestIdentity.server.certificate.utf8), as: "own.pem"))
            for pins in [[own], [own, own], [file, own]] {
                let error = await failure(network(pins, files), server.url())
                #expect(error?.code == .networkInsecure && error?.message.contains("backup") == true, "\(pins)")
            }
            #expect(server.requestCount == 0)
        }
    }

    @Test(arguments: [
        ("sha256/AAAA", "has 3 bytes"), ("sha256/", "has 0 bytes"), ("sha256/\u{E4}", "is not Base64"),
        ("sha256/" + String(repeating: "A", count: 43), "is not Base64"), ("sha1/AAAA", "begins with `sha1`"),
        ("SHA256/AAAA", "begins with `SHA256`"), ("pin-sha256=AAAA", "begins with `pin-sha256`"),
    ])
    func `the text of a hash has Base64 of 32 bytes`(text: String, words: String) {
        let error = #expect(throws: BackplaneError.self) { try CertificatePin(text) }
        #expect(error?.message.contains(words) == true, "\(error as Any)")
    }

    @Test func `the text of a pin makes the same pin`() throws {
        for pin in [TestIdentity.server.pin, .file("backup.pem"), .file("./sha256/a"), .file("sha256")] {
            #expect(try CertificatePin("\(pin)") == pin)
        }
    }

    @Test func `an executor that cannot look at keys sends nothing`() async {
        let network = HTTPPipeline([URLSessionExecutor()], tls: ["127.0.0.1": TLSSettings(pins: Self.others)])
        #expect(await failure(network, "https://127.0.0.1:9/")?.code == .networkUnsupported)
    }

    /// An executor that returns the roots of each exchange's settings as the body.
    private struct SettingsExecutor: HTTPExecutor {
        let schemes = ["https"], capabilities: HTTPCapabilities = [.tlsSettings]

        func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
            HTTPStreamedResponse(HTTPResponse(status: 200, body: Array((options.tls?.roots ?? "none").utf8)))
        }
    }

    @Test(arguments: [
        ("books.example.org", "own"), ("BOOKS.example.org.", "own"), ("shelf.example.org", "wildcard"),
        ("a.books.example.org", "none"), ("example.org", "none"), ("b.shelf.example.org", "deep"),
        ("xn--bcher-kva.test", "none"), ("a.xn--bcher-kva.test", "international"), ("127.0.0.1", "none"),
        ("org", "none"),
    ])
    func `a wildcard is for one label, and a name precedes it`(host: String, roots: String) async throws {
        let network = HTTPPipeline(
            [SettingsExecutor()],
            tls: [
                "books.example.org": TLSSettings(roots: "own"), "*.example.org": TLSSettings(roots: "wildcard"),
                "*.shelf.example.org": TLSSettings(roots: "deep"), "*.0.0.1": TLSSettings(roots: "address"),
                "*.b\u{FC}cher.test": TLSSettings(roots: "international"),
            ])
        let response = try await network.send(HTTPRequest("GET", "https://\(host)/"))
        #expect(String(decoding: response.body, as: UTF8.self) == roots)
    }

    @Test func `the pins of a server are those of all certificates that it sends, and no request arrives`()
        async throws
    {
        try await SecureTestServer.with(.server.followed(by: .servers)) { server, _ in
            for host in ["localhost", "127.0.0.1"] {
                let pins = try await AsyncHTTPClientExecutor.pins(of: server.url(host: host))
                #expect(pins == [TestIdentity.server.pin, TestIdentity.servers.pin])
            }
            #expect(server.requestCount == 0)
        }
        try await SecureTestServer.with(.selfSigned) { server, _ in
            let pins = try await AsyncHTTPClientExecutor.pins(of: server.url())
            #expect(pins == [TestIdentity.selfSigned.pin])
        }
    }

    @Test func `a server without certificates has no pins`() async throws {
        let plain = try TestServer(greeting: "HTTP/1.1 400 Bad Request\r\n\r\n") { $1.answer("200 OK") }
        for (url, code) in [
            (plain.url(), BackplaneError.Code.networkRefused), ("https://127.0.0.1:\(plain.port)/", .networkInsecure),
        ] {
            let error = await #expect(throws: BackplaneError.self) { try await AsyncHTTPClientExecutor.pins(of: url) }
            #expect(error?.code == code, "\(error as Any)")
        }
    }
}

extension TestIdentity {
    /// The pin of the certificate's key, found by the beginning of the encoding of each key on the curve P-256
    /// (RFC 5480): the algorithm and the curve, which an uncompressed point of 65 bytes follows.
    fileprivate var pin: CertificatePin {
        let base64 = certificate.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let bytes = Array(Data(base64Encoded: base64)!)  // a certificate of the script
        let start: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
            0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        let place = bytes.firstRange(of: start)!
        return .key(sha256: ContentDigest.sha256(of: Array(bytes[place.lowerBound..<place.upperBound + 65])))
    }
}
