import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The cache of a plugin: used as it answers, and passed over while it does not.
@Suite(.timeLimit(.minutes(5)))
struct CacheProviderTests {
    private static func response(_ key: String) -> CachedResponse {
        CachedResponse(
            key: key, url: "http://books.test/", endpoint: "books", tags: ["a"],
            HTTPResponse(status: 200, headers: ["ETag": "1"], body: Array("whale".utf8)), requested: Date(),
            received: Date(), expires: .distantFuture, varying: ["accept": "text/plain"])
    }

    private func provider(of host: PluginHost) -> PluginCache {
        PluginCache("Cache", host.coordinator.network.managers, by: host.coordinator.clock)
    }

    private func load(_ host: PluginHost, _ path: String = "list") async throws -> String {
        var endpoint = Endpoint<String>("GET", path)
        endpoint.options.cache = .disk(for: .seconds(60))
        let http = HTTPClient(host.network).relative(to: "http://books.test")
        return try await http.load(endpoint)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a plugin stores, loads and removes what it is given`(lanes: LaneRule) async throws {
        let stored = Recording<CachedResponse>(), rules = Recording<CacheExpiry>(), response = Self.response("a")
        let script = ScriptedCache.Script(
            load: { key in stored.all.first { $0.key == key } }, store: { stored.add($0) },
            removeExpired: {
                rules.add($0)
                return 7
            })
        try await ScriptedCache.running(script, lanes: lanes) { host, _ in
            let cache = provider(of: host)
            try await cache.store(response, for: "a")
            let found = try await cache.load("a"), missing = try await cache.load("b")
            #expect(found == response && missing == nil)
            let rule = CacheExpiry(date: Date(timeIntervalSince1970: 1), endpoint: "books", tag: "a")
            #expect(try await host.cache.flush(rule) == 7)
            #expect(rules.all == [rule])
            let listing = try await host.cache.list(limit: 10)
            #expect(listing.entries.isEmpty && listing.unlisted == ["disk"])
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `loads are answered from it`(lanes: LaneRule) async throws {
        let stored = Recording<CachedResponse>()
        let script = ScriptedCache.Script(
            load: { key in stored.all.first { $0.key == key } }, store: { stored.add($0) })
        try await ScriptedCache.running(script, lanes: lanes) { host, _ in
            #expect(try await load(host) == "1")
            let response = try await stored.first(1)[0]
            #expect(response.key.utf8.count == 64 && response.body == Data("1".utf8))
            #expect(try await load(host) == "1")
            let statistics = try await host.cache.statistics()
            #expect(statistics.map(\.place) == ["memory", "disk"] && statistics[1].hits == 1)
        }
    }

    @Test func `one that throws is passed over, and each series of failures is logged once`() async throws {
        let isWorking = Mutex(false), log = TestLog(), attempts = Recording<String>()
        struct Broken: Error {}
        let script = ScriptedCache.Script(
            load: { key in
                guard isWorking.withLock({ $0 }) else { throw Broken() }
                return nil
            },
            store: { _ in
                attempts.add("store")
                throw Broken()
            }, removeExpired: { _ in throw Broken() })
        try await ScriptedCache.running(script, { $0.log = log }) { host, _ in
            func warnings() -> Int { log.records.count { $0.metadata["cache"] == "Cache" } }
            // While a response is stored, it answers requests for the same.
            for number in 1...3 {
                #expect(try await load(host, "\(number)") == "\(number)")
                _ = try await attempts.first(number)
            }
            #expect(warnings() == 1)
            isWorking.withLock { $0 = true }
            #expect(try await load(host, "4") == "4")
            await eventually { warnings() == 2 }
            let error = await error { try await host.cache.flush(.all) }
            #expect(error?.code == .networkCache, "nobody takes responses for removed that are still there")
        }
    }

    @Test func `one that never answers is passed over after a second`() async throws {
        let gate = TestGate(), clock = TestClock()
        let script = ScriptedCache.Script(load: { key in
            await gate.passThoughCancelled()
            return Self.response(key)
        })
        try await ScriptedCache.running(script, { $0.clock = clock }) { host, _ in
            let cache = provider(of: host)
            async let failure = error { try await cache.load("a") }
            try await gate.arrivals()
            try await clock.expire(PluginCache.limit)
            #expect(await failure?.code == .networkCache)
            gate.open()
        }
    }

    @Test func `one that is swapped in the middle fails that use, and the new one answers`() async throws {
        let gate = TestGate()
        let script = ScriptedCache.Script(load: { _ in
            try await gate.pass()
            return nil
        })
        try await ScriptedCache.running(script) { host, key in
            let cache = provider(of: host)
            async let found = try? cache.load("a")
            try await gate.arrivals()
            ScriptedCache.scripts.withLock { $0[key] = ScriptedCache.Script(load: { Self.response($0) }) }
            let later = LinkedPlugin(id: CachingPlugin.id, version: "2.0.0") { CachingPlugin.register(in: &$0) }
            let coordinator = host.coordinator
            let outcome = try await withTaskExecutorPreference(coordinator.executor) {
                () async throws(BackplaneError) in
                try await coordinator.swap(
                    linked: [later], ChangeOptions(drain: .upTo(.milliseconds(1), then: .cancel))
                ).outcome
            }
            #expect(outcome == .changed)
            #expect(await found == nil)
            #expect(try await cache.load("a") != nil)
        }
    }

    @Test(arguments: [("Other", "wire.mismatch"), ("Missing", "manager.unknown")])
    func `a provider that is no cache, or no manager, is an error where it is named`(provider: String, code: String)
        async throws
    {
        let manifest = Manifest(
            plugins: [], managers: ["Other": ManagerDefinition(className: "LendingManager")],
            network: NetworkSettings(cache: CacheSettings(provider: provider)))
        let host = PluginHost(manifest: manifest, plugins: [LendingPlugin.self])
        let errors = await host.check().map(\.error)
        #expect(
            errors.contains { $0.code.rawValue == code && $0.location == "/network/cache/provider" }, "\(errors)")
        await host.stop()
    }
}
