import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Executors that plugins bring: those that keep the rules, and those that do not.
@Suite(.timeLimit(.minutes(10)))
struct ExecutingTests {
    // MARK: Conformance

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an executor in Swift conforms as the engine does that it hands its exchanges to`(lanes: LaneRule)
        async throws
    {
        let engine = Engine.asyncHTTPClient
        try await RelayHost.with(engine.executor(), lanes: lanes) { relay in
            let executor = try await relay.host.executor("relay")
            let report = await HTTPConformance.run(limit: .seconds(240)) { executor }
            try report.requireSuccess()
            let capabilities = engine.executor().capabilities.subtracting(.tlsSettings)
            #expect(executor.capabilities == capabilities)
            #expect(report.results.count == HTTPConformance.caseNames.count)
            #expect(report.skipped.isEmpty)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an executor in Swift that is a library of its own conforms as its engine does`(lanes: LaneRule) async throws {
        let files = try TestFolder(), folder = files.path
        let library = BuiltProducts.folder + "/lib_Relay.so"
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: library)],
                managers: ["Relay": ManagerDefinition(className: "LoadedRelay")],
                network: NetworkSettings(executors: ["relay": "Relay"])),
            options: HostOptions(
                loadFolder: folder + "/loads", dataFolder: folder + "/data", lanes: lanes, occupationLimit: nil))
        try await host.start()
        let executor = try await host.executor("relay")
        let report = await HTTPConformance.run(limit: .seconds(240), except: Engine.urlSessionExceptions) { executor }
        try report.requireSuccess()
        #expect(report.results.count == HTTPConformance.caseNames.count)
        #expect(executor.capabilities == Engine.urlSession.executor().capabilities)
        await host.stop()
    }

    // MARK: The choice

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

    // MARK: Executors that break the rules

    private func failure(_ script: @escaping ScriptedExecutor.Script) async throws -> BackplaneError? {
        let result = Mutex<BackplaneError?>(nil)
        try await RelayHost.with(script: script) { relay in
            let error = await relay.failure()
            result.withLock { $0 = error }
        }
        return result.withLock { $0 }
    }

    @Test func `an executor that gives no response fails the exchange, and says so`() async throws {
        let none = try await failure { _, _, _ in }
        #expect(
            none?.description == "relay:books: network.malformed: the executor `relay` ended the exchange too early")
        struct Lost: Error {}
        let thrown = try await failure { _, _, _ in throw Lost() }
        #expect(thrown?.code == .networkFailed)
        #expect(thrown?.message.hasPrefix("the executor `relay` failed: ") == true)
        let own = try await failure { _, _, _ in throw BackplaneError(.networkTimeout, "the archive is closed") }
        #expect(own?.description.hasSuffix("): relay:books: network.timeout: the archive is closed") == true)
        #expect(own?.calls == ["Relay.exchange (org.backplane.tests.relay)"])
    }

    @Test(arguments: [(2, "only 2"), (6, "more")])
    func `an executor that lies about the length of a body fails the exchange`(count: Int, words: String) async throws {
        let error = try await failure { context, order, heads in
            try await context.execute(order, heads) { _, _ in
                HTTPStreamedResponse(
                    status: 200, headers: ["Content-Length": "5"],
                    body: HTTPBodyStream([UInt8](repeating: 1, count: count)))
            }
        }
        #expect(error?.code == (count < 5 ? .networkFailed : .networkMalformed))
        #expect(error?.message == "the response announced a body of 5 bytes, but it has \(words)")
    }

    @Test func `one that hangs is ended by the limits of the exchange, and told so`() async throws {
        let clock = TestClock(), begun = TestGate(), ended = TestGate(isOpen: true)
        let script: ScriptedExecutor.Script = { _, _, heads in
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
        }
    }

    @Test func `a body that nobody reads holds its executor back, and is released with the response`() async throws {
        let pushed = Counted()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        try await RelayHost.with(script: { context, order, heads in
            defer { end.yield() }
            try await context.execute(order, heads) { _, _ in
                HTTPStreamedResponse(
                    status: 200,
                    body: HTTPBodyStream {
                        pushed.add(1)
                        return [UInt8](repeating: 1, count: 1 << 16)
                    })
            }
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
