import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The cache on the disk of a host: opened at its first use, and gone without if it cannot be opened.
@Suite(.timeLimit(.minutes(2)))
struct HostCachesTests {
    /// A cache that stores nothing.
    private struct EmptyCache: CacheProvider {
        func load(_ key: String) async throws -> CachedResponse? { nil }
        func store(_ response: CachedResponse, for key: String) async throws {}
        func removeExpired(_ rule: CacheExpiry) async throws -> Int { 0 }
    }
    private let clock = TestClock(), log = TestLog(), limits = Recording<Int>()

    private func cache(
        _ settings: CacheSettings = CacheSettings(), _ open: @escaping @Sendable () throws -> any CacheProvider
    ) -> ResponseCache {
        let caches = HostCaches(NetworkManagers(), by: clock, log) { [limits] _, limit, _ in
            limits.add(limit)
            return try open()
        } folder: {
            ""
        } hasFolder: { [limits] in
            !limits.all.isEmpty
        }
        return caches.cache(with: settings)
    }

    private func load(_ policy: CachePolicy, _ cache: ResponseCache) async throws {
        let executor = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) }
        var endpoint = Endpoint<Nothing>("GET", "list")
        endpoint.options.cache = policy
        let http = HTTPClient(HTTPPipeline([executor], cache: cache)).relative(to: "http://books.test")
        _ = try await http.load(endpoint)
    }

    @Test func `it is opened once, by the first policy that uses the disk`() async throws {
        let cache = cache(CacheSettings(disk: 7)) { EmptyCache() }
        try await load(.memory(for: .seconds(60)), cache)
        #expect(try await cache.flush(.all) == 1)
        #expect(limits.all.isEmpty)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await load(.disk(for: .seconds(60)), cache) } }
            try await group.waitForAll()
        }
        #expect(limits.all == [7] && log.records.isEmpty)
    }

    @Test func `one that cannot be opened is logged once, and tried again after a minute`() async throws {
        let cache = cache { throw BackplaneError(.networkCache, "the folder is read-only") }
        for _ in 0..<3 { try await load(.disk(for: .seconds(60)), cache) }
        #expect(limits.all.count == 1)
        #expect(log.records.map(\.metadata["cache"]) == ["disk"])
        clock.advance(by: .seconds(60))
        for _ in 0..<3 {
            let error = await error { try await cache.flush(.all) }
            #expect(error?.code == .networkCache)
        }
        #expect(limits.all.count == 2 && log.records.count == 1)
    }

    @Test func `a limit of zero opens none, and its responses are in memory`() async throws {
        let cache = cache(CacheSettings(disk: 0)) { EmptyCache() }
        try await load(.disk(for: .seconds(60)), cache)
        try await load(.disk(for: .seconds(60)), cache)
        #expect(limits.all.isEmpty)
        let statistics = try await cache.statistics()
        #expect(statistics.map(\.place) == ["memory"] && statistics[0].hits == 1 && statistics[0].misses == 1)
    }
}
