import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Synchronization
import Testing

/// The page on HTTP (docs/http.md): each of its snippets stands in this file, and runs.
@Suite(.timeLimit(.minutes(10)))
struct HTTPPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/http.md")

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let blocks = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "```swift\n").dropFirst()
        #expect(blocks.count == 18)
        for block in blocks {
            let snippet = lines(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
            #expect(source.firstRange(of: snippet) != nil, "\(snippet.joined(separator: "\n"))")
        }
    }

    @Test func `the page says of each executor what it declares`() throws {
        let rows: [String: HTTPCapabilities] = [
            "streamed uploads": .streamedUploads, "back-pressure": .backPressure,
            "request trailers, response trailers": [.requestTrailers, .responseTrailers],
            "interim responses, `100 Continue`": [.interimResponses, .expectContinue], "HTTP/2": .http2,
            "proxies": .proxies, "decompression": .decompression, "fields of one name stay apart": .separateFields,
            "a body with `GET`": .contentInGET, "a response that breaks off in its head": .truncatedHeads,
            "a response with trailers": .harmlessTrailers,
            "roots and versions of TLS for each host": .tlsSettings,
        ]
        // No built-in executor pins certificates.
        #expect(rows.values.reduce(HTTPCapabilities.pins) { $0.union($1) } == .all)
        let executors: [any HTTPExecutor] = [
            AsyncHTTPClientExecutor(proxies: .none), URLSessionExecutor(),
            MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) },
        ]
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(page.range(of: "## What each executor can do")).upperBound
        var missing = Set(rows.keys)
        for line in page[start...].split(separator: "\n").prefix(while: { !$0.hasPrefix("###") }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count > 4, let capabilities = rows[cells[1]] else { continue }
            missing.remove(cells[1])
            for (executor, cell) in zip(executors, cells[2...]) {
                let lacks = ["no", "always decodes", "as you say", "**ends the process**"]
                let isThere = !cell.isEmpty && !lacks.contains { cell.hasPrefix($0) }
                let declared = executor.capabilities.intersection(capabilities)
                #expect(declared == (isThere ? capabilities : []), "\(type(of: executor)): \(line)")
            }
        }
        #expect(missing == [])
    }

    private func withFile(_ text: String, _ body: (String) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file.path)
    }

    @Test func `requests`() async throws {
        let server = try TestServer { $1.answer("200 OK", [("X-Type", $0["Content-Type"] ?? "")], body: $0.body) }
        let url = server.url()
        try await withFile("PNG") { path in
            let order = HTTPRequest("POST", url, body: try .json(["title": "Moby-Dick"]))
            let search = HTTPRequest("POST", url, body: .form(["q": "white whale", "page": "1"]))
            let cover = HTTPRequest("POST", url, body: .multipart([.text("title", "Moby-Dick"), .file("cover", path)]))
            let network = HTTPPipeline([AsyncHTTPClientExecutor()])
            var bodies: [String] = []
            for request in [order, search, cover] {
                let response = try await network.send(request)
                bodies.append(
                    "\(response.headers["X-Type"]!.prefix(19)) \(String(decoding: response.body, as: UTF8.self))")
            }
            #expect(bodies[0] == #"application/json {"title":"Moby-Dick"}"#)
            #expect(bodies[1] == "application/x-www-f q=white+whale&page=1")
            #expect(bodies[2].hasPrefix("multipart/form-data --") && bodies[2].contains("\r\n\r\nPNG\r\n--"))
        }
    }

    struct Unusable: Error {
        var status: Int
    }

    /// What a plugin's method does with its context's client and the call that it serves.
    static func fetch(_ url: String, _ http: HTTPClient, _ call: Call) async throws -> HTTPResponse {
        let response = try await http.send(HTTPRequest("GET", url), call)
        guard response.status == 200 else { throw Unusable(status: response.status) }
        return response
    }

    static func count(_ url: String, _ http: BackplaneNetwork.HTTPClient, _ call: Call) async throws -> Int {
        let response = try await http.open(HTTPRequest("GET", url), call)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        return count
    }

    static func download(_ url: String, _ context: LendingCommunication.Context, _ call: Call) async throws {
        let http = context.http, log = context.log
        var options = HTTPOptions()
        options.progress = { progress in log.debug("\(progress.received) bytes") }
        try await http.download(HTTPRequest("GET", url), to: "whale.epub", call, options)
    }

    /// What two components do with a file, one after the other.
    static func handOver(
        _ context: LendingCommunication.Context, to store: (StoredFile) throws -> String
    ) throws -> String {
        let file = try context.stored("whale.epub")  // in the network service that downloaded it
        return try store(file)
    }

    static func adopt<Store: DataAccessController>(
        _ file: StoredFile, _ context: DataAccessContext<Store>
    ) throws -> String {
        let path = try context.adopt(file, as: "moby.epub")  // in the data access controller
        return path
    }

    @Test func `a component streams and downloads`() async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array("hello".utf8)) }
        try await LendingPlugin.lent(.asyncHTTPClient) { _, context in
            #expect(try await Self.count(server.url(), context.http, context.begin()) == 5)
            try await Self.download(server.url(), context, context.begin())
            #expect(try Self.handOver(context) { "\($0.size)" } == "5")
        }
    }

    @Test func `a program of one's own sends`() async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array("hello".utf8)) }
        let url = server.url()
        let network = HTTPPipeline([AsyncHTTPClientExecutor()])
        let response = try await network.send(HTTPRequest("GET", url))
        #expect(response.body == Array("hello".utf8))
    }

    @Test func `it streams`() async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array("hello".utf8)) }
        let url = server.url()
        let network = HTTPPipeline([AsyncHTTPClientExecutor()])
        let response = try await network.open(HTTPRequest("GET", url))
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == 5)
    }

    @Test func `it downloads`() async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array("hello".utf8)) }
        let url = server.url()
        let network = HTTPPipeline([AsyncHTTPClientExecutor()])
        try await withFile("before") { path in
            var options = HTTPOptions()
            options.totalTimeout = .seconds(60)
            options.readTimeout = .seconds(10)
            options.progress = { progress in print(progress.received, progress.toReceive ?? 0) }
            let response = try await network.download(HTTPRequest("GET", url), to: path, options)
            #expect(response.status == 200)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "hello")
        }
    }

    struct SigningExecutor: HTTPExecutor {
        let next: any HTTPExecutor
        var schemes: [String] { next.schemes }
        var capabilities: HTTPCapabilities { next.capabilities }

        func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
            var signed = request
            signed.headers["X-Signature"] = "signed"
            return try await next.open(signed, options)
        }
    }

    @Test func `an executor of one's own conforms`() async throws {
        let report = await HTTPConformance.run { SigningExecutor(next: URLSessionExecutor()) }
        try report.requireSuccess()
        let server = try TestServer { $1.answer("204 No Content") }
        _ = try await SigningExecutor(next: URLSessionExecutor()).execute(HTTPRequest("GET", server.url()))
        #expect(await server.requests.first { _ in true }?["X-Signature"] == "signed")
    }

    @Test func `a server with a script`() async throws {
        let server = try TestServer { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.reset()
        }
        await #expect(throws: BackplaneError.self) {
            try await HTTPPipeline([AsyncHTTPClientExecutor()]).send(HTTPRequest("GET", server.url()))
        }
    }

    @Test func `TLS for one host`() async throws {
        let network = HTTPPipeline(
            [AsyncHTTPClientExecutor()], tls: ["books.example.org": TLSSettings(roots: "ca.pem", minimum: .tls13)])
        let server = try TestServer { $1.answer("204 No Content") }
        #expect(try await network.send(HTTPRequest("GET", server.url())).status == 204)
    }

    /// A place for lines.
    struct Lines: Sendable {
        let noted = Recording<String>()
        func note(_ line: String) { noted.add(line) }
    }

    @Test func `a filter and an observer of a program`() async throws {
        @Sendable func signature(_ method: String, _ url: String, _ digest: String?) -> String {
            "\(method) \(digest ?? "")"
        }
        let server = try TestServer { $1.answer("204 No Content") }, log = Lines()
        do {
            let signer = ExchangeFilter(
                "signer", hosts: ["books.example.org"], digests: true,
                attempts: { head in ["Signature": signature(head.method, head.url, head.digest)] })
            let network = HTTPPipeline([AsyncHTTPClientExecutor()], filters: [signer])
            #expect(try await network.send(HTTPRequest("GET", server.url())).status == 204)
            #expect(await server.requests.first { _ in true }?["Signature"] == nil, "it is for another host")
        }
        let observer = ExchangeObserver { event in log.note("\(event.stage.rawValue) \(event.url)") }
        let network = HTTPPipeline([AsyncHTTPClientExecutor()], observers: [observer])
        #expect(try await network.send(HTTPRequest("GET", server.url())).status == 204)
        let told = try await log.noted.first(4)
        #expect(told == ["start", "attempt", "head", "end"].map { "\($0) \(server.url())" })
    }

    @Test func `a filter and an observer of a plugin`() async throws {
        let executor = MemoryExecutor { request, _ in
            HTTPStreamedResponse(HTTPResponse(status: 200, body: Array((request.headers["Signature"] ?? "").utf8)))
        }
        let host = PluginHost(
            manifest: Manifest(
                plugins: [],
                managers: [
                    "RequestSigner": ManagerDefinition(className: "RequestSigner"),
                    "AccessLog": ManagerDefinition(className: "AccessLog"),
                ],
                network: NetworkSettings(filters: [NetworkFilter("RequestSigner")], observers: ["AccessLog"])),
            plugins: [GatePlugin.self], options: HostOptions(executors: [executor]))
        let response = try await host.network.send(HTTPRequest("POST", "http://books.test/", body: .text("whale")))
        #expect(String(decoding: response.body, as: UTF8.self) == "signed " + FilterTests.whale)
        #expect(try await AccessLog.lines.noted.first { $0.hasPrefix("end") } == "end http://books.test/")
        await host.stop()
    }

    @Test func `an executor of a plugin`() async throws {
        ArchiveExecutor.engine.withLock {
            $0 = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 299)) }
        }
        let host = PluginHost(
            manifest: Manifest(
                plugins: [], managers: ["ArchiveManager": ManagerDefinition(className: "ArchiveExecutor")],
                network: NetworkSettings(executors: ["archive": "ArchiveManager"])), plugins: [ArchivePlugin.self])
        let executor = try await host.executor("archive")
        let response = try await executor.open(HTTPRequest("GET", "archive:1851"), HTTPOptions())
        #expect(response.status == 299 && executor.schemes == ["archive"])
        await host.stop()
    }
}

private struct GatePlugin: Plugin {
    static let id = "org.backplane.tests.gate"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(RequestSigner.self)
        registrar.add(AccessLog.self)
    }
}

private final class RequestSigner: Manager {
    typealias Provides = ExchangeFiltering
    static let className = "RequestSigner"

    init(_ context: Context) {}

    func sign(_ head: FilteredRequest) -> String { "signed \(head.digest ?? "")" }

    static func methods(_ table: inout Methods) {
        table.async(\.interests) { _, _, _ in [.attempts, .digest] }
        table.async(\.request) { _, head, _ in head }
        table.async(\.attempt) { signer, head, _ in [["Signature", signer.sign(head)]] }
    }
}

private final class AccessLog: Manager {
    typealias Provides = ExchangeObserving
    static let className = "AccessLog"
    static let lines = HTTPPageTests.Lines()

    init(_ context: Context) {}

    func note(_ line: String) { Self.lines.note(line) }

    static func methods(_ table: inout Methods) {
        table.async(\.observe) { log, batch, _ in
            for event in batch.events { log.note("\(event.stage.rawValue) \(event.url)") }
            return Nothing()
        }
    }
}

private struct ArchivePlugin: Plugin {
    static let id = "org.backplane.tests.archive"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) { registrar.add(ArchiveExecutor.self) }
}

private final class ArchiveExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "ArchiveExecutor"
    static let engine = Mutex<any HTTPExecutor>(MemoryExecutor { _, _ in throw CancellationError() })
    private let context: Context
    private let engine = ArchiveExecutor.engine.withLock { $0 }

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { archive, _, _ in archive.engine.capabilities }
        table.stream(\.exchange) { archive, order, heads, _ in
            try await archive.context.execute(order, heads) { request, options in
                try await archive.engine.open(request, options)
            }
        }
    }
}
