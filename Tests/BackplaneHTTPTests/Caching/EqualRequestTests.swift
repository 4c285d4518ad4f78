import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange
@testable import BackplaneHost

/// Equal requests in flight: one exchange, whose result everyone gets.
@Suite(.timeLimit(.minutes(5)))
struct EqualRequestTests {
    @Test func `equal loads make one exchange, and each has its own progress`() async throws {
        let server = GatedServer(), network = server.network(),
            http = HTTPClient(network).relative(to: "http://books.test")
        server.gate.close()
        let received = Recording<Int64>()
        let loads = (0..<100).map { _ in
            Endpoint<String>("GET", "list").load(on: http).onProgress { received.add($0.received) }
        }
        try await network.followers(100)
        server.gate.open()
        for load in loads { #expect(try await load.value == "1") }
        #expect(server.count == 1)
        #expect(try await received.first(100).allSatisfy { $0 == 1 })
        #expect(try await http.load(Endpoint<String>("GET", "list")) == "2")
    }

    @Test func `a follower survives the cancellation of the first, and the last one to leave cancels`() async throws {
        let server = GatedServer { _, _ in .text("whale") }, network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        let first = Task { try await network.send(request) }
        try await server.gate.arrivals()
        let second = Task { try await network.send(request) }
        try await network.followers(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let third = Task { try await network.send(request) }
        try await network.followers(2)
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let fourth = Task { try await network.send(request) }
        try await server.gate.arrivals(2)
        server.gate.open()
        #expect(try await fourth.value.body == Array("whale".utf8))
        #expect(server.count == 2)
    }

    @Test func `everyone keeps to their own time limit`() async throws {
        let server = GatedServer(), network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        var hurried = HTTPOptions()
        hurried.totalTimeout = .seconds(5)
        let first = Task { [hurried] in try await network.send(request, hurried) }
        try await server.gate.arrivals()
        let second = Task { try await network.send(request) }
        try await network.followers(2)
        try await server.clock.expire(.seconds(5))
        let late = await #expect(throws: BackplaneError.self) { try await first.value }
        #expect(late?.code == .networkTimeout)
        server.gate.open()
        #expect(try await second.value.body == Array("1".utf8))
        #expect(server.count == 1)
    }

    @Test func `an order that is placed twice is sent once, unless that is allowed`() async throws {
        let server = GatedServer(), http = server.client()
        server.gate.close()
        var order = Endpoint<String>("POST", "orders")
        order.body = .text("whale")
        let first = order.load(on: http)
        try await server.gate.arrivals()
        let error = await http.failure(of: order)
        #expect(error?.code == .networkRedundant && error?.networkNumber == 6)
        var other = order
        other.body = .text("squid")
        order.options.equalRequests = .allow
        let second = order.load(on: http), third = other.load(on: http)
        try await server.gate.arrivals(3)
        server.gate.open()
        #expect(Set(try await [first.value, second.value, third.value]) == ["1", "2", "3"])
        #expect(try await http.load(other) == "4")
    }

    @Test func `requests of two senders are never equal, and neither are those with other fields or options`()
        async throws
    {
        func login(_ user: String) -> Credential {
            Credential(hosts: ["books.test"], .basic(Login(user: Secret(user), password: "whale")))
        }
        let server = GatedServer { request, _ in .text(request.headers["Authorization"] ?? "nobody") }
        let network = server.network(credentials: Credentials(["ann": login("ann"), "bob": login("bob")]))
        server.gate.close()
        var requests: [(HTTPRequest, HTTPOptions)] = []
        for name in ["ann", "bob", nil] {
            var options = HTTPOptions()
            options.credential = name
            requests.append((HTTPRequest("GET", "http://books.test/"), options))
        }
        let fields: [HTTPHeaders] = [
            ["Authorization": "a"], ["Authorization": "b"], ["Cookie": "a"], ["X-API-Key": "a"],
            ["Accept": "text/html"],
        ]
        for headers in fields {
            requests.append((HTTPRequest("GET", "http://books.test/", headers: headers), HTTPOptions()))
        }
        for change in [{ $0.redirects = 1 }, { $0.maximumBodySize = 100 }] as [(inout HTTPOptions) -> Void] {
            var options = HTTPOptions()
            change(&options)
            requests.append((HTTPRequest("GET", "http://books.test/"), options))
        }
        let exchanges = requests.map { request, options in Task { try await network.send(request, options) } }
        try await server.gate.arrivals(requests.count)
        server.gate.open()
        var texts: [String] = []
        for exchange in exchanges.prefix(3) {
            texts.append(String(decoding: try await exchange.value.body, as: UTF8.self))
        }
        #expect(texts == ["Basic YW5uOndoYWxl", "Basic Ym9iOndoYWxl", "nobody"])
        for exchange in exchanges { _ = try await exchange.value }
        #expect(server.count == requests.count)
    }

    @Test func `streams and requests with a body that is read are never shared`() async throws {
        let server = GatedServer(), network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        var upload = HTTPRequest("PUT", "http://books.test/")
        let exchanges = [
            Task { try await network.open(request) }, Task { try await network.open(request) },
        ]
        var sending: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<2 {
            upload.body = .stream(HTTPBodyStream([1]))
            sending.append(Task { [upload] in try await network.send(upload) })
        }
        try await server.gate.arrivals(4)
        server.gate.open()
        for exchange in exchanges { _ = try await exchange.value.collect() }
        for exchange in sending { _ = try await exchange.value }
        #expect(server.count == 4)
    }

    @Test func `a body that breaks off is loaded again for everyone`() async throws {
        let server = GatedServer { _, number in
            guard number == 1 else { return .text("whole") }
            let pieces = Mutex([[UInt8]("half".utf8)])
            return HTTPStreamedResponse(
                status: 200,
                body: HTTPBodyStream {
                    if let piece = pieces.withLock({ $0.popLast() }) { return piece }
                    throw BackplaneError(.networkFailed, "the connection was closed")
                })
        }
        let network = server.network(), http = HTTPClient(network).relative(to: "http://books.test")
        server.gate.close()
        var endpoint = Endpoint<String>("GET", "list")
        endpoint.retry = .immediate
        let loads = [endpoint.load(on: http), endpoint.load(on: http)]
        try await network.followers(2)
        server.gate.open()
        for load in loads { #expect(try await load.value == "whole") }
        #expect(server.count == 2)
    }

    @Test func `cookies are only for the one who has made the exchange`() async throws {
        let server = GatedServer { _, _ in .text("whale", 200, ["Set-Cookie": "id=1"]) }, network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        let exchanges = [Task { try await network.send(request) }, Task { try await network.send(request) }]
        try await network.followers(2)
        server.gate.open()
        var cookies: [String?] = []
        for exchange in exchanges { cookies.append(try await exchange.value.headers["Set-Cookie"]) }
        #expect(Set(cookies) == [nil, "id=1"] && server.count == 1)
    }

    @Test func `an error of the exchange is everyone's`() async throws {
        let server = GatedServer { _, _ in throw BackplaneError(.networkFailed, "the connection was refused") }
        let network = server.network()
        server.gate.close()
        let request = HTTPRequest("GET", "http://books.test/")
        let first = Task { try await network.send(request) }
        try await server.gate.arrivals()
        let second = Task { try await network.send(request) }
        try await network.followers(2)
        server.gate.open()
        for exchange in [first, second] {
            let error = await #expect(throws: BackplaneError.self) { try await exchange.value }
            #expect(error?.code == .networkFailed)
        }
        #expect(server.count == 1)
    }
}

extension HTTPPipeline {
    /// Waits until a number of requests follow exchanges in flight.
    func followers(_ count: Int) async throws {
        while equal.followers != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// A second plugin with the components of ``LendingPlugin``, under names of its own.
private struct ShelfPlugin: Plugin {
    static let id = "org.backplane.tests.shelf"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LendingManager.self, named: "ShelfManager")
        registrar.add(LendingCommunication.self, named: "ShelfCommunication")
    }
}

/// A dictionary in place of the disk.
private final class DictionaryCache: CacheProvider {
    private let responses = Mutex<[String: CachedResponse]>([:])

    func load(_ key: String) async throws -> CachedResponse? { responses.withLock { $0[key] } }
    func store(_ response: CachedResponse, for key: String) async throws { responses.withLock { $0[key] = response } }
    func removeExpired(_ rule: CacheExpiry) async throws -> Int { 0 }
}

/// Senders of one URL in two plugins, whose host has one cache and shares exchanges in flight.
@Suite(.timeLimit(.minutes(5)))
struct SenderTests {
    /// A sender: an account of the credential, or a field of the requests.
    private enum Sender: String, CaseIterable {
        case ann, bob, carl, dora

        private var isAccount: Bool { self == .ann || self == .bob }

        func endpoint(_ cache: CachePolicy) -> Endpoint<String> {
            var endpoint = Endpoint<String>("GET", "shelf")
            endpoint.options.cache = cache
            if isAccount {
                (endpoint.options.credential, endpoint.options.account) = ("library", rawValue)
            } else {
                endpoint.headers["Authorization"] = rawValue
            }
            return endpoint
        }

        /// The name of a request's sender, as a server finds it.
        static func name(in request: HTTPRequest) -> String {
            let proof = request.headers["Authorization"] ?? "nobody"
            guard proof.hasPrefix("Basic "), let login = Data(base64Encoded: String(proof.dropFirst(6))) else {
                return proof
            }
            return String(String(decoding: login, as: UTF8.self).prefix { $0 != ":" })
        }
    }

    /// Runs a host with a component in each of the two plugins, and gives their contexts and the key of the second one
    /// to the body.
    private static func running(
        _ server: GatedServer,
        _ body: (_ host: PluginHost, _ contexts: [LendingCommunication.Context], _ key: String) async throws -> Void
    ) async throws {
        let keys = [UUID().uuidString, UUID().uuidString]
        var managers: [String: ManagerDefinition] = [:]
        for (name, key) in zip(["Lending", "Shelf"], keys) {
            managers[name + "Manager"] = ManagerDefinition(
                className: name + "Manager",
                communicationController: ComponentDefinition(
                    className: name + "Communication", configuration: ["key": .string(key)]))
        }
        let library = Credential(hosts: ["books.test"], .basic(Login()))
        let manifest = Manifest(
            plugins: [], managers: managers, network: NetworkSettings(credentials: ["library": library]))
        try await PluginHost.running(manifest, [LendingPlugin.self, ShelfPlugin.self], executors: [server.executor]) {
            // An exchange of swapped code is ended at once.
            $0.servicesLimit = .milliseconds(1)
            $0.openCache = { _, _, _ in DictionaryCache() }
        } _: { host in
            let contexts = try keys.map(LendingCommunication.context)
            for name in ["ann", "bob"] {
                try await contexts[0].http.signIn(
                    "library", as: name, with: ["user": name, "password": "whale"], contexts[0].begin())
            }
            try await body(host, contexts, keys[1])
        }
    }

    /// Swaps the second plugin, and returns the context of its new component.
    private static func swap(_ host: PluginHost, _ key: String) async throws -> LendingCommunication.Context {
        let later = LinkedPlugin(id: ShelfPlugin.id, version: "2.0.0") { ShelfPlugin.register(in: &$0) }
        let coordinator = host.coordinator
        let outcome = try await withTaskExecutorPreference(coordinator.executor) {
            () async throws(BackplaneError) in
            try await coordinator.swap(linked: [later], ChangeOptions()).outcome
        }
        #expect(outcome == .changed)
        return try LendingCommunication.context(key)
    }

    private static func load(
        _ sender: Sender, _ cache: CachePolicy, _ context: LendingCommunication.Context
    ) async throws -> String {
        try await context.http.relative(to: "http://books.test").load(sender.endpoint(cache), context.begin())
    }

    @Test(arguments: [
        CachePolicy.memory(for: .seconds(3_600)), .disk(for: .seconds(3_600)), .http, .http(in: .memory),
        .staleWhileRevalidate(.seconds(3_600)), .staleIfError(.seconds(3_600)),
    ])
    func `a cached response answers its sender in both plugins, and nobody else, before and after a swap`(
        policy: CachePolicy
    ) async throws {
        let server = GatedServer { request, _ in
            .text(Sender.name(in: request), 200, ["Cache-Control": "max-age=3600"])
        }
        try await Self.running(server) { host, contexts, key in
            func loadAll(_ contexts: [LendingCommunication.Context]) async throws {
                for context in contexts {
                    for sender in Sender.allCases {
                        #expect(try await Self.load(sender, policy, context) == sender.rawValue)
                    }
                }
            }
            try await loadAll(contexts)
            let later = [try await Self.swap(host, key), contexts[0]]
            try await loadAll(later)
            if policy.lifetime != Duration.zero { #expect(server.count == Sender.allCases.count) }
            server.answers { _, _ in throw BackplaneError(.networkFailed, "the connection was refused") }
            try await loadAll(later)
        }
    }

    @Test func `an exchange in flight answers its sender in both plugins, and nobody else, also past a swap`()
        async throws
    {
        let server = GatedServer { request, _ in .text(Sender.name(in: request)) }, count = Sender.allCases.count
        try await Self.running(server) { host, contexts, key in
            func loads(_ context: LendingCommunication.Context) -> [Task<String, any Error>] {
                Sender.allCases.map { sender in Task { try await Self.load(sender, .none, context) } }
            }
            server.gate.close()
            let first = loads(contexts[1])
            try await server.gate.arrivals(count)
            let second = loads(contexts[0])
            try await host.network.followers(2 * count)
            let later = try await Self.swap(host, key)
            for load in first {
                let failure = await error { try await load.value }
                #expect(failure?.code == .callRetired)
            }
            try await host.network.followers(count)
            let third = loads(later)
            try await host.network.followers(2 * count)
            server.gate.open()
            for loads in [second, third] {
                for (load, sender) in zip(loads, Sender.allCases) {
                    #expect(try await load.value == sender.rawValue)
                }
            }
            #expect(server.count == count)
        }
    }
}
