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
import TestFixtures
import Testing

/// The executors of this package, and one that breaks rules, run through the suite.
@Suite(.timeLimit(.minutes(10)))
struct ConformanceTests {
    @Test func `AsyncHTTPClient follows every rule`() async throws {
        let report = await HTTPConformance.run { AsyncHTTPClientExecutor(proxies: .none) }
        try report.requireSuccess()
        #expect(report.skipped.isEmpty)
    }

    @Test func `URLSession conforms, and lacks everything that streams`() async throws {
        let report = await HTTPConformance.run(except: Engine.urlSessionExceptions) { URLSessionExecutor() }
        try report.requireSuccess()
        #expect(report.skipped == Self.skippedByURLSession)
    }

    private static let skippedByURLSession = [
        "request fields of one name stay apart",
        "a GET can have a body",
        "a stream of known length has a Content-Length",
        "a stream of unknown length is sent in chunks",
        "a stream that fails halfway fails the exchange, and its connection",
        "a stream that is shorter or longer than announced fails the exchange",
        "a stream is sent once, and a replayable body as often as wanted",
        "a stream is read only as fast as the server takes it",
        "a response that comes before the body was sent is the response",
        "unrequested trailer fields do no harm",
        "response fields keep their order and number",
        "an unread body is not received",
        "a response without content is not decoded",
        "all members of gzip are decoded, each as it comes",
        "all content codings are removed in reverse order, or none",
        "compressed content is requested and decoded",
        "deflate is decoded where it is requested",
        "content that is not compressed is left alone",
        "a range is requested as it is stored, and not decoded",
        "with a request's own Accept-Encoding, the content is not decoded",
        "damaged content is an error",
        "content that grows out of proportion is an error",
        "a response that breaks off within its head is an error",
    ]

    /// An executor that breaks two rules.
    private struct MisbehavingExecutor: HTTPExecutor {
        let next: any HTTPExecutor
        var schemes: [String] { next.schemes }
        var capabilities: HTTPCapabilities { next.capabilities }

        func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
            var request = request
            request.method = request.method == "PURGE" ? "GET" : request.method
            var response = try await next.open(request, options)
            if response.status == 418 { response.status = 400 }
            return response
        }
    }

    @Test func `an executor that breaks rules is told which`() async throws {
        let report = await HTTPConformance.run { MisbehavingExecutor(next: Engine.allCases[0].executor()) }
        #expect(
            report.failed.map(\.name) == [
                "method, target and body arrive as they were given",
                "any status is a response, with its body and fields",
            ])
        let error = #expect(throws: BackplaneError.self) { try report.requireSuccess() }
        #expect(error?.code == .conformanceFailed && error?.causes.count == 2)
    }
}

/// Executors that plugins bring: those that keep the rules, and those that do not.
@Suite(.timeLimit(.minutes(10)))
struct ExecutingTests {
    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an executor in Swift conforms as the engine does that it hands its exchanges to`(lanes: LaneRule)
        async throws
    {
        let engine = Engine.asyncHTTPClient
        try await RelayHost.with(engine.executor(), lanes: lanes) { relay in
            let executor = try await relay.host.executor("relay")
            let report = await HTTPConformance.run(limit: .seconds(240), except: HTTPConformance.pluginExceptions) {
                executor
            }
            try report.requireSuccess()
            let capabilities = engine.executor().capabilities.subtracting(.tlsSettings)
            #expect(executor.capabilities == capabilities)
            #expect(report.results.count == HTTPConformance.caseNames.count)
            #expect(Set(report.skipped) == HTTPConformance.pluginExceptions)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an executor in Swift that is a library of its own conforms as its engine does`(lanes: LaneRule) async throws {
        try await withLibrary(lanes) { host in
            let executor = try await host.executor("relay")
            let exceptions = Engine.urlSessionExceptions.union(HTTPConformance.pluginExceptions)
            let report = await HTTPConformance.run(limit: .seconds(240), except: exceptions) { executor }
            try report.requireSuccess()
            #expect(report.results.count == HTTPConformance.caseNames.count)
            #expect(executor.capabilities == Engine.urlSession.executor().capabilities)
        }
    }

    /// Runs a step with a host that loads the library of executors, which it names `relay` and `faulty`.
    private func withLibrary(_ lanes: LaneRule, _ body: (PluginHost) async throws -> Void) async throws {
        let manifest = Manifest(
            plugins: [PluginReference(library: BuiltProducts.folder + "/lib_Relay.so")],
            managers: [
                "Relay": ManagerDefinition(className: "LoadedRelay"),
                "Faulty": ManagerDefinition(className: "FaultyRelay"),
            ], network: NetworkSettings(executors: ["relay": "Relay", "faulty": "Faulty"]))
        try await PluginHost.running(manifest, executors: [], lanes: lanes) { try await body($0) }
    }

    @Test func `an executor in C has the body of a request, and sends that of a response`() async throws {
        let manifest = Manifest(
            plugins: [PluginReference(library: BuiltProducts.folder + "/libFixturesInC.so")],
            managers: ["Echo": ManagerDefinition(className: "ExecutorInC")],
            network: NetworkSettings(executors: ["echo": "Echo"]))
        try await PluginHost.running(manifest, executors: []) { host in
            let none = try await host.network.send(HTTPRequest("GET", "echo:books"))
            #expect(none.status == 204 && none.body.isEmpty)
            let body = [UInt8].pattern(count: 300_000)
            let echo = try await host.network.send(HTTPRequest("POST", "echo:books", body: body))
            #expect(echo.status == 200 && echo.body == body)
        }
    }

    private static let echo = MemoryExecutor(schemes: ["relay", "http"]) { request, _ in
        var body = HTTPResponse(status: 200)
        body.body = Array("relayed \(request.method) \(request.url)".utf8)
        return HTTPStreamedResponse(body)
    }
    private static let own = MemoryExecutor { _, _ in
        HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("the host's own".utf8)))
    }

    @Test func `an executor is chosen by the URL's scheme, or by its name for one request`() async throws {
        try await RelayHost.with(Self.echo, own: [Self.own]) { relay in
            let http = relay.context.http
            func text(_ url: String, _ name: String? = nil) async throws -> String {
                var options = HTTPOptions()
                options.executor = name
                let response = try await http.send(HTTPRequest("GET", url), relay.context.begin(), options)
                return String(decoding: response.body, as: UTF8.self)
            }
            let byScheme = try await text("relay:books/1?a=b"), own = try await text("http://books.test/")
            let byName = try await text("http://books.test/", "relay")
            #expect(byScheme == "relayed GET relay:books/1?a=b" && own == "the host's own")
            #expect(byName == "relayed GET http://books.test/")
            var options = HTTPOptions()
            options.executor = "rely"
            let unknown = await relay.failure("http://books.test/", options)
            #expect(unknown?.code == .networkRefused)
            #expect(
                unknown?.message == "no executor is named `rely`; the manifest's `network.executors` has `relay`")
            let scheme = await relay.failure("rely:books")
            #expect(scheme?.message.contains("it supports `file:`, `http:`, `https:`, `relay:`") == true)
        }
    }

    @Test func `one that serves http takes the place of the host's own`() async throws {
        let network = NetworkSettings(executors: ["http": "Relay"])
        try await RelayHost.with(Self.echo, own: [Self.own], network: network) { relay in
            let response = try await relay.context.http.send(
                HTTPRequest("GET", "http://books.test/"), relay.context.begin())
            #expect(String(decoding: response.body, as: UTF8.self) == "relayed GET http://books.test/")
        }
    }

    @Test func `a manifest that is applied gives other executors`() async throws {
        try await RelayHost.with(Self.echo, own: [Self.own]) { relay in
            #expect(await relay.failure("other:books")?.code == .networkRefused)
            var manifest = relay.manifest
            manifest.network.executors = ["other": "Relay"]
            try await relay.host.apply(manifest)
            _ = try await relay.context.http.send(HTTPRequest("GET", "other:books"), relay.context.begin())
            #expect(await relay.failure("relay:books")?.code == .networkRefused)
        }
    }

    private func failure(_ script: @escaping ScriptedExecutor.Script) async throws -> BackplaneError? {
        let result = Mutex<BackplaneError?>(nil)
        try await RelayHost.with(script: script) { relay in
            let error = await relay.failure()
            result.withLock { $0 = error }
        }
        return result.withLock { $0 }
    }

    @Test func `an executor that gives no response fails the exchange, and says so`() async throws {
        struct Lost: Error {}
        let thrown = try await failure { _, _ in throw Lost() }
        #expect(thrown?.code == .networkFailed)
        #expect(thrown?.message.hasPrefix("the executor `relay` failed: ") == true)
        let own = try await failure { _, _ in throw BackplaneError(.networkTimeout, "the archive is closed") }
        #expect(own?.description.hasSuffix("): relay:books: network.timeout: the archive is closed") == true)
        #expect(own?.calls == ["Relay.exchange (org.backplane.tests.relay)"])
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a response that is none, or differs from its head, fails the exchange`(lanes: LaneRule) async throws {
        let faults: [(url: String, code: BackplaneError.Code, words: String)] = [
            ("faulty:nothing", .networkMalformed, "ended the exchange without a response"),
            ("faulty:piece", .networkMalformed, "sent a piece of a body before the head of its response"),
            ("faulty:heads", .networkMalformed, "returned two responses to one request"),
            ("faulty:status", .networkMalformed, "returned a response with the status 99; expected 200 to 599"),
            ("faulty:short", .networkFailed, "announced a body of 5 bytes, but sent only 2"),
            ("faulty:long", .networkMalformed, "announced a body of 5 bytes, but sent more"),
        ]
        try await withLibrary(lanes) { host in
            for fault in faults {
                let error = await error { try await host.network.send(HTTPRequest("GET", fault.url)) }
                #expect(error?.code == fault.code && error?.location == fault.url)
                #expect(error?.message == "the executor `faulty` " + fault.words)
            }
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an endless response ends at a limit or with its reader, and its executor is told`(lanes: LaneRule)
        async throws
    {
        let files = try TestFolder(), path = files.path + "/whale"
        try await withLibrary(lanes) { host in
            let network = host.network, endless = HTTPRequest("GET", "faulty:endless")
            func ended() async throws { _ = try await network.send(HTTPRequest("GET", "faulty:ended")) }
            var options = HTTPOptions()
            options.maximumBodySize = 1 << 20
            let whole = await #expect(throws: BackplaneError.self) { try await network.send(endless, options) }
            try await ended()
            let saved = await error { try await network.download(endless, to: path, options) }
            try await ended()
            #expect(whole?.code == .networkTooLarge && saved?.code == .networkTooLarge)
            #expect(try FileManager.default.contentsOfDirectory(atPath: files.path).isEmpty)

            let response = try await network.open(endless)
            #expect(try await response.body.next()?.isEmpty == false)
            response.body.cancel()
            try await ended()
            let silent = try await network.open(HTTPRequest("GET", "faulty:silent"))
            let reader = Task { try await silent.body.next() }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            try await ended()
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a body is in the order, or in a file that only its owner may read`(lanes: LaneRule) async throws {
        let files = Recording<String>()
        let script: ScriptedExecutor.Script = { order, parts in
            if let file = order.file { files.add(file) }
            let body = try await order.request.body.open().collect(upTo: 8 << 20)
            #expect(body == .pattern(count: body.count) && order.isChunked == order.request.body.isStream)
            var words = "\(body.count) \(order.body == nil ? "" : "in memory")"
            if let file = order.file {
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                words += "in a file with \(String(mode ?? 0, radix: 8))"
            }
            if order.isChunked { words += ", in chunks" }
            try await parts.send(HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(words.utf8))))
        }
        try await RelayHost.with(script: script, lanes: lanes) { relay in
            func sent(_ body: HTTPBody, _ options: HTTPOptions = HTTPOptions()) async throws -> String {
                let request = HTTPRequest("POST", "relay:books", body: body)
                return String(decoding: try await relay.host.network.send(request, options).body, as: UTF8.self)
            }
            func stream(_ bytes: [UInt8], _ length: Int64? = nil) -> HTTPBody {
                .replayable(length: length) {
                    AsyncStream<[UInt8]> {
                        $0.yield(bytes)
                        $0.finish()
                    }
                }
            }
            let short = [UInt8].pattern(count: 70_000), long = [UInt8].pattern(count: 3 << 20)
            #expect(try await sent(.none) == "0 ")
            #expect(try await sent(.bytes(short)) == "70000 in memory")
            #expect(try await sent(stream(short)) == "70000 in memory, in chunks")
            #expect(try await sent(.bytes(long)) == "3145728 in a file with 600")
            #expect(try await sent(stream(long, 3 << 20)) == "3145728 in a file with 600")
            #expect(try await sent(stream(long)) == "3145728 in a file with 600, in chunks")
            #expect(!files.all.contains { FileManager.default.fileExists(atPath: $0) })

            // A file is not copied, even if its reading is observed.
            let folder = try TestFolder(), path = folder.path + "/whale", progress = Recording<HTTPProgress>()
            try Data(long).write(to: URL(filePath: path))
            var options = HTTPOptions()
            options.progress = { progress.add($0) }
            #expect(try await sent(.file(path), options).hasPrefix("3145728 in a file"))
            #expect(files.all.last == path && FileManager.default.fileExists(atPath: path))
            #expect(progress.all.last?.sent == 3 << 20 && progress.all.last?.toSend == 3 << 20)
        }
    }

    enum End: CaseIterable { case success, failure, cancellation, retirement }

    @Test(arguments: End.allCases)
    func `a file with a body is removed with its exchange, however that ends`(end: End) async throws {
        let files = Recording<String>(), reading = TestGate(isOpen: end == .success || end == .failure)
        let script: ScriptedExecutor.Script = { order, parts in
            files.add(try #require(order.file))
            try await reading.pass()
            if end == .failure { throw BackplaneError(.networkFailed, "the archive is closed") }
            try await parts.send(.head(HTTPHead(status: 204, headers: [:])))
        }
        try await RelayHost.with(script: script) { relay in
            let request = HTTPRequest("PUT", "relay:books", body: [UInt8](repeating: 1, count: 2 << 20))
            let exchange = Task { try await relay.host.network.send(request).status }
            let file = try await files.first(1)[0]
            if end == .cancellation || end == .retirement { #expect(FileManager.default.fileExists(atPath: file)) }
            if end == .cancellation { exchange.cancel() }
            if end == .retirement { await relay.host.stop() }
            #expect((try? await exchange.value) == (end == .success ? 204 : nil))
            // Who is cancelled does not wait for the end of an exchange that others might share.
            while FileManager.default.fileExists(atPath: file) { await Task.yield() }
        }
    }

    @Test func `a body that ignores the cancellation of its exchange does not hold it`() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
        let body = HTTPBody.produced(length: nil, isReplayable: false) {
            HTTPBodyStream {
                await withCheckedContinuation { continuation in _ = ask.yield(continuation) }
                return nil
            }
        }
        try await RelayHost.with(script: { _, _ in }) { relay in
            let exchange = Task { try await relay.host.network.send(HTTPRequest("PUT", "relay:books", body: body)) }
            let held = await asked.first { _ in true }
            exchange.cancel()
            #expect((try? await exchange.value) == nil)
            held?.resume()
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `one that chooses credentials is told their names and no secret, and reports what was sent`(lanes: LaneRule)
        async throws
    {
        let orders = Recording<HTTPOrder>(), progress = Recording<Int64>()
        let script: ScriptedExecutor.Script = { order, parts in
            orders.add(order)
            for count in [0, 3, 5] as [Int64] { try await parts.send(.sent(count)) }
            try await parts.send(HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("a book".utf8))))
        }
        let network = NetworkSettings(
            executors: ["relay": "Relay"],
            credentials: ["library": Credential(hosts: ["books.test"], .bearer(TokenSource(secret: "white whale")))])
        let capabilities: HTTPCapabilities = [.streamedUploads, .credentialNames]
        try await RelayHost.with(script: script, capabilities: capabilities, lanes: lanes, network: network) { relay in
            let path = relay.context.folder + "/whale"
            try Data("whale".utf8).write(to: URL(filePath: path))
            var options = HTTPOptions()
            options.credential = "library"
            options.progress = { if $0.received == 0 { progress.add($0.sent) } }
            let request = HTTPRequest("PUT", "relay:books", body: .file(path))
            _ = try await relay.host.network.send(request, options)
            #expect(orders.all.map(\.credential) == ["library"])
            #expect(orders.all.allSatisfy { $0.request.headers["Authorization"] == nil })
            #expect(progress.all.contains(3) && progress.all.last == 5, "\(progress.all)")
            options.credential = "libary"
            let unknown = await relay.failure("relay:books", options)
            #expect(unknown?.code == .networkCredential && orders.all.count == 1)
        }
    }

    @Test func `one that hangs is ended by the limits of the exchange, and told so`() async throws {
        let clock = TestClock(), begun = TestGate(), ended = TestGate(isOpen: true)
        let script: ScriptedExecutor.Script = { order, parts in
            if order.url == "relay:head" { try await parts.send(.head(HTTPHead(status: 200, headers: [:]))) }
            do { try await begun.pass() } catch {
                try? await ended.pass()
                throw error
            }
        }
        try await RelayHost.with(script: script, { $0.clock = clock }) { relay in
            let request = HTTPRequest("GET", "relay:books"), http = relay.context.http
            var options = HTTPOptions()
            options.headTimeout = .seconds(9)
            let limited = Task { [options] in try await http.open(request, relay.context.begin(), options) }
            try await begun.arrivals(1)
            try await clock.expire(.seconds(9))
            #expect(await #expect(throws: BackplaneError.self) { try await limited.value }?.code == .networkTimeout)
            let call = relay.host.begin(within: .seconds(36_000))
            let late = Task { try await http.open(request, call) }
            try await begun.arrivals(2)
            try await clock.expire(.seconds(36_000))
            #expect(await #expect(throws: BackplaneError.self) { try await late.value }?.code == .callDeadline)
            try await ended.arrivals(2)
            options = HTTPOptions()
            (options.readTimeout, options.totalTimeout) = (.seconds(5), .seconds(8))
            for (number, limit) in [5, 8].enumerated() {
                if number == 1 { options.readTimeout = nil }
                let response = try await relay.host.network.open(HTTPRequest("GET", "relay:head"), options)
                let read = Task { try await response.body.next() }
                try await clock.expire(.seconds(limit))
                #expect(await #expect(throws: BackplaneError.self) { try await read.value }?.code == .networkTimeout)
                try await ended.arrivals(3 + number)
            }
        }
    }

    @Test func `a body that nobody reads holds its executor back, and is released with the response`() async throws {
        let pushed = Counted()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        try await RelayHost.with(script: { _, parts in
            defer { end.yield() }
            try await parts.send(
                HTTPStreamedResponse(
                    status: 200,
                    body: HTTPBodyStream {
                        pushed.add(1)
                        return [UInt8](repeating: 1, count: 1 << 16)
                    }))
        }) { relay in
            do {
                let response = try await relay.context.http.open(
                    HTTPRequest("GET", "relay:books"), relay.context.begin())
                #expect(try await response.body.next()?.count == 1 << 16)
                #expect(pushed.value < 10)
            }
            _ = await ended.first { _ in true }
        }
    }
}
