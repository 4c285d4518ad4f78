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

/// A plugin whose communication controller lends its context to the test.
struct LendingPlugin: Plugin {
    static let id = "org.backplane.tests.lending"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(LendingManager.self)
        registrar.add(LendingCommunication.self)
    }
}

struct Lending: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

final class LendingManager: Manager {
    static let className = "LendingManager"
    struct Wires: Wiring {
        let communicationController: Wire<Lending>
    }

    init(_ context: Context) {}
}

final class LendingCommunication: CommunicationController {
    typealias Provides = Lending
    static let className = "LendingCommunication"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    private static let contexts = Mutex<[String: Context]>([:])

    /// The context of the component with that key, once.
    static func context(_ key: String) throws -> Context {
        try #require(contexts.withLock { $0.removeValue(forKey: key) })
    }

    init(_ context: Context) {
        Self.contexts.withLock { $0[context.configuration.key] = context }
    }

    static func methods(_ table: inout Methods) {
        table.sync(\.nothing) { _, _, _ in Nothing() }
    }
}

extension ManagerDefinition {
    /// A manager whose communication controller lends its context under a key.
    static func lending(_ key: String) -> ManagerDefinition {
        ManagerDefinition(
            className: "LendingManager",
            communicationController: ComponentDefinition(
                className: "LendingCommunication", configuration: ["key": .string(key)]))
    }
}

extension LendingPlugin {
    static func manifest(of key: String, traced: [String] = []) -> Manifest {
        Manifest(
            plugins: [],
            managers: [
                "LendingManager": .lending(key)
            ], network: NetworkSettings(traced: traced))
    }

    /// Runs a host whose one component lends its context to the test.
    ///
    /// - Parameter traced: The hosts that traces are sent to.
    static func lent(
        _ engine: Engine, traced: [String] = [], _ change: (inout HostOptions) -> Void = { _ in },
        _ body: (PluginHost, LendingCommunication.Context) async throws -> Void
    ) async throws {
        let key = UUID().uuidString, manifest = manifest(of: key, traced: traced)
        try await PluginHost.running(manifest, [LendingPlugin.self], executors: [engine.executor()], change) { host in
            try await body(host, LendingCommunication.context(key))
        }
    }
}

/// A plugin with executors in Swift, over engines that the test gives.
struct RelayPlugin: Plugin {
    static let id = "org.backplane.tests.relay"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(RelayExecutor.self)
        registrar.add(ScriptedExecutor.self)
    }
}

/// An executor that hands its exchanges to an engine.
final class RelayExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "RelayExecutor"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    static let engines = Mutex<[String: any HTTPExecutor]>([:])
    private let engine: any HTTPExecutor

    init(_ context: Context) throws {
        engine = try #require(Self.engines.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { executor, _, _ in executor.engine.capabilities }
        table.stream(\.exchange) { executor, order, parts, _ in
            try await parts.send(try await executor.engine.open(order.request, order.options))
        }
    }
}

/// An executor that does what a test says, also what it must not.
final class ScriptedExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "ScriptedExecutor"
    typealias Configuration = RelayExecutor.Configuration
    typealias Script = @Sendable (HTTPOrder, StreamSender<HTTPResponsePart>) async throws -> Void
    static let scripts = Mutex<[String: (script: Script, capabilities: HTTPCapabilities)]>([:])
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { executor, _, _ in try executor.own.capabilities }
        table.stream(\.exchange) { executor, order, parts, _ in try await executor.own.script(order, parts) }
    }

    private var own: (script: Script, capabilities: HTTPCapabilities) {
        get throws { try #require(Self.scripts.withLock { $0[context.configuration.key] }) }
    }
}

/// A host with an executor of a plugin named `relay`, and a component that lends its context.
struct RelayHost {
    let host: PluginHost
    let manifest: Manifest
    let context: LendingCommunication.Context

    /// - Parameters:
    ///   - engine: The engine of the executor; `nil` for one that follows `script`.
    ///   - capabilities: Those of an executor that follows `script`.
    ///   - own: The host's own executor.
    static func with(
        _ engine: (any HTTPExecutor)? = nil, script: ScriptedExecutor.Script? = nil,
        capabilities: HTTPCapabilities = .streamedUploads, lanes: LaneRule = .fastest,
        own: [any HTTPExecutor] = [], network: NetworkSettings = NetworkSettings(executors: ["relay": "Relay"]),
        _ change: (inout HostOptions) -> Void = { _ in }, _ body: (RelayHost) async throws -> Void
    ) async throws {
        let key = UUID().uuidString
        RelayExecutor.engines.withLock { $0[key] = engine }
        ScriptedExecutor.scripts.withLock { $0[key] = script.map { ($0, capabilities) } }
        defer {
            RelayExecutor.engines.withLock { $0[key] = nil }
            ScriptedExecutor.scripts.withLock { $0[key] = nil }
        }
        let manifest = Manifest(
            plugins: [],
            managers: [
                "Relay": ManagerDefinition(
                    className: engine == nil ? "ScriptedExecutor" : "RelayExecutor",
                    configuration: ["key": .string(key)]),
                "LendingManager": .lending(key),
            ], network: network)
        try await PluginHost.running(
            manifest, [LendingPlugin.self, RelayPlugin.self], executors: own, lanes: lanes, change
        ) { host in
            try await body(
                RelayHost(host: host, manifest: manifest, context: LendingCommunication.context(key)))
        }
    }

    /// What an exchange of the component fails with.
    func failure(_ url: String = "relay:books", _ options: HTTPOptions = HTTPOptions()) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) {
            try await context.http.send(HTTPRequest("GET", url), context.begin(), options)
        }
    }
}

/// A plugin with an interceptor that does what a test says.
struct ExtendingPlugin: Plugin {
    static let id = "org.backplane.tests.extending"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) { registrar.add(ScriptedInterceptor.self) }
}

/// An interceptor whose parts are closures of a test.
final class ScriptedInterceptor: Manager {
    typealias Provides = Intercepting
    static let className = "ScriptedInterceptor"
    typealias Configuration = RelayExecutor.Configuration
    struct Script: Sendable {
        var interests: Interests = .requests
        var request: @Sendable (InterceptedRequest, Call) async throws -> InterceptedRequest = { head, _ in head }
        var attempt: @Sendable (InterceptedRequest, Call) async throws -> HTTPHeaders = { _, _ in [:] }
        var events: @Sendable (ExchangeEvents) async throws -> Void = { _ in }
    }
    static let scripts = Mutex<[String: Script]>([:])
    private let script: Script

    init(_ context: Context) throws {
        script = try #require(Self.scripts.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.interests) { interceptor, _, _ in interceptor.script.interests }
        table.async(\.request) { interceptor, head, call in try await interceptor.script.request(head, call) }
        table.async(\.attempt) { interceptor, head, call in try await interceptor.script.attempt(head, call) }
        table.async(\.events) { interceptor, batch, _ in
            try await interceptor.script.events(batch)
            return Nothing()
        }
    }
}

/// A host with interceptors of a plugin, and a component that lends its context.
struct ExtendedHost {
    let host: PluginHost
    /// The context of a component that takes no part in exchanges of others.
    let context: LendingCommunication.Context
    /// The contexts of the interceptors' own components, in their order.
    let own: [LendingCommunication.Context]
    /// The keys of the scripts of the interceptors, in their order.
    let keys: [String]

    /// - Parameters:
    ///   - interceptors: The interceptors `Interceptor0`, `Interceptor1`, in their order.
    ///   - hosts: The hosts of all interceptors; empty for every host.
    static func with(
        _ interceptors: [ScriptedInterceptor.Script] = [], hosts: [String] = [],
        engine: any HTTPExecutor = URLSessionEngine.shared, lanes: LaneRule = .fastest,
        _ change: (inout HostOptions) -> Void = { _ in }, _ body: (ExtendedHost) async throws -> Void
    ) async throws {
        var managers: [String: ManagerDefinition] = [:]
        let keys = interceptors.enumerated().map { number, script in
            let key = UUID().uuidString
            ScriptedInterceptor.scripts.withLock { $0[key] = script }
            managers["Interceptor\(number)"] = ManagerDefinition(
                className: "ScriptedInterceptor", configuration: ["key": .string(key)],
                communicationController: ComponentDefinition(
                    className: "LendingCommunication", configuration: ["key": .string(key)]))
            return key
        }
        let lender = UUID().uuidString
        managers["LendingManager"] = .lending(lender)
        let manifest = Manifest(
            plugins: [], managers: managers,
            network: NetworkSettings(
                interceptors: keys.indices.map { NetworkInterceptor("Interceptor\($0)", hosts: hosts) }))
        try await PluginHost.running(
            manifest, [LendingPlugin.self, ExtendingPlugin.self], executors: [engine], lanes: lanes, change
        ) { host in
            let contexts = try ([lender] + keys).map(LendingCommunication.context)
            try await body(
                ExtendedHost(host: host, context: contexts[0], own: Array(contexts.dropFirst()), keys: keys))
        }
    }

    /// Sends a request of the component, and returns the body of the response.
    func text(_ request: HTTPRequest, _ options: HTTPOptions = HTTPOptions()) async throws -> String {
        String(decoding: try await context.http.send(request, context.begin(), options).body, as: UTF8.self)
    }

    /// The error of an exchange of the component.
    func failure(_ request: HTTPRequest) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await context.http.send(request, context.begin()) }
    }
}

/// An executor over sockets that all tests share.
enum URLSessionEngine {
    static let shared: any HTTPExecutor = Engine.urlSession.executor()
}

/// A plugin with a cache that does what a test says.
struct CachingPlugin: Plugin {
    static let id = "org.backplane.tests.caching"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) { registrar.add(ScriptedCache.self) }
}

/// A cache whose parts are closures of a test.
final class ScriptedCache: Manager {
    typealias Provides = CacheProviding
    static let className = "ScriptedCache"
    typealias Configuration = RelayExecutor.Configuration
    struct Script: Sendable {
        var load: @Sendable (String) async throws -> CachedResponse? = { _ in nil }
        var store: @Sendable (CachedResponse) async throws -> Void = { _ in }
        var removeExpired: @Sendable (CacheExpiry) async throws -> Int = { _ in 0 }
    }
    static let scripts = Mutex<[String: Script]>([:])
    private let script: Script

    init(_ context: Context) throws {
        script = try #require(Self.scripts.withLock { $0[context.configuration.key] })
    }

    static func methods(_ table: inout Methods) {
        table.async(\.load) { cache, key, _ in try await cache.script.load(key) }
        table.async(\.store) { cache, response, _ in
            try await cache.script.store(response)
            return Nothing()
        }
        table.async(\.removeExpired) { cache, rule, _ in try await cache.script.removeExpired(rule) }
    }

    /// Runs a host whose cache on the disk is that of the plugin, and whose server counts its requests.
    static func running(
        _ script: Script, lanes: LaneRule = .fastest, _ change: (inout HostOptions) -> Void = { _ in },
        _ body: (_ host: PluginHost, _ key: String) async throws -> Void
    ) async throws {
        let key = UUID().uuidString, count = Counted()
        scripts.withLock { $0[key] = script }
        let server = MemoryExecutor { _, _ in
            count.add(1)
            return HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("\(count.value)".utf8)))
        }
        let manifest = Manifest(
            plugins: [],
            managers: ["Cache": ManagerDefinition(className: "ScriptedCache", configuration: ["key": .string(key)])],
            network: NetworkSettings(cache: CacheSettings(provider: "Cache")))
        try await PluginHost.running(manifest, [CachingPlugin.self], executors: [server], lanes: lanes, change) {
            try await body($0, key)
        }
    }
}

/// A plugin with a manager that signs requests with HMAC (RFC 2104).
struct SigningPlugin: Plugin {
    static let id = "org.backplane.tests.signing"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(BookSigner.self)
    }
}

/// A manager that signs the head and the body's digest of each request with the value `key` of the credential.
final class BookSigner: Manager {
    typealias Provides = Authenticating
    struct NoKey: ComponentError {
        var code: String { "signer.no-key" }
        var message: String { "the credential has no value `key`" }
    }

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.digests) { _, _, _ in true }
        table.async(\.prepare) { signer, request, _ in
            ["Authorization": "HMAC \(try signer.signature(of: request))"]
        }
        table.async(\.answer) { _, _, _ in [:] }
    }

    private func signature(of request: AuthenticatedRequest) throws -> String {
        guard let key = request.values["key"], let digest = request.digest else { throw NoKey() }
        return HMAC.text(key, "\(request.method)\n\(request.url)\n\(digest)")
    }
}

/// HMAC with SHA-256 (RFC 2104).
enum HMAC {
    static func text(_ key: String, _ message: String) -> String {
        let block = Array(key.utf8) + [UInt8](repeating: 0, count: 64 - key.utf8.count)
        let inner = ContentDigest.sha256(of: block.map { $0 ^ 0x36 } + Array(message.utf8))
        return ContentDigest.sha256(of: block.map { $0 ^ 0x5C } + inner).hexadecimal
    }
}
