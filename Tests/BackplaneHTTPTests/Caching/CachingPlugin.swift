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
