import Backplane
import BackplaneControl
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneTools
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand

/// `backplane cache`: its tables, what it refuses, and that it asks the running host.
@Suite(.timeLimit(.minutes(5)))
struct CacheTests {
    private func response(_ key: String, _ change: (inout CachedResponse) -> Void = { _ in }) -> CachedResponse {
        let date = Date(timeIntervalSince1970: 1_000)
        var response = CachedResponse(
            key: key, url: "https://books.test/covers/whale.png", endpoint: "covers", tags: ["shelf", "images"],
            HTTPResponse(status: 200, headers: ["ETag": "1", "Set-Cookie": "planted"], body: Array("whale".utf8)),
            requested: date, received: date, expires: date + 3_600, varying: [:])
        change(&response)
        return response
    }

    @Test func `responses are listed with their ages, and counts by their places`() throws {
        let plain = response("b") { response in
            (response.endpoint, response.tags, response.expires) = (nil, [], Date(timeIntervalSince1970: 0))
            response.body = Data(count: 3_000_000)
        }
        let entries = [CacheEntry(response("a"), in: .memory), CacheEntry(plain, in: .disk)]
        let usage = CacheUsage(entries: 2, bytes: 1_500, limit: 32 << 20, evictions: 1)
        let places = [
            CacheStatistics(place: "memory", hits: 7, misses: 3, usage: usage),
            CacheStatistics(place: "disk", hits: 0, misses: 2, usage: nil),
        ]
        let lines = [CacheTable.table(entries, at: 1_065), CacheTable.table(places)].flatMap { $0.lines(colour: false) }
        try expectSnapshot(lines.joined(separator: "\n") + "\n", "cache-tables")
    }

    /// A cache with two responses, which have the tags `a` and `b`.
    private func loaded() async throws -> ResponseCache {
        let cache = ResponseCache(),
            executor = MemoryExecutor { _, _ in
                let headers: HTTPHeaders = ["ETag": "1", "Set-Cookie": "planted"]
                return HTTPStreamedResponse(HTTPResponse(status: 200, headers: headers, body: Array("whale".utf8)))
            }
        let http = HTTPClient(HTTPPipeline([executor], cache: cache)).relative(to: "https://books.test")
        for tag in ["a", "b"] {
            var endpoint = Endpoint<String>("GET", ["covers", tag], query: ["size": "2"])
            endpoint.options.cache = .memory(for: .seconds(60))
            endpoint.options.cacheTags = [tag]
            _ = try await http.load(endpoint)
        }
        return cache
    }

    @Test func `a response is shown by its key or its URL, without its query and without secrets`() async throws {
        let cache = try await loaded()
        let entries = try await #require(CacheRequest(.list).answer(from: cache).listing).entries
        #expect(
            entries.count == 2
                && Set(entries.map(\.url)) == ["https://books.test/covers/a", "https://books.test/covers/b"])
        let key = try #require(entries.first { $0.tags == ["a"] }).key
        for name in [key, "https://books.test/covers/a", "https://u:p@books.test/covers/a?size=2"] {
            var request = CacheRequest(.show)
            (request.key, request.body) = (name, true)
            let responses = try await #require(request.answer(from: cache).responses)
            #expect(responses.count == 1 && responses.first?.body == Data("whale".utf8), "\(name)")
            let lines = CacheTable.lines(responses, at: 1_065)
            #expect(lines.contains("< ETag: 1") && lines[0] == "https://books.test/covers/a")
            #expect(!lines.joined().contains("planted") && !"\(responses)".contains("planted"))
            request.body = false
            #expect(try await request.answer(from: cache).responses?.first?.body == nil)
        }
        var request = CacheRequest(.show)
        request.key = "https://books.test/other"
        let missing = await error { try await request.answer(from: cache) }
        #expect(missing?.code == .networkCache && missing?.location == "https://books.test/other")
    }

    @Test func `a flush removes what the rule selects, and needs one`() async throws {
        let cache = try await loaded()
        var request = CacheRequest(.flush)
        let error = await error { try await request.answer(from: cache) }
        #expect(error?.code == .controlMalformed && error?.location == "/rule")
        request.rule = CacheExpiry(tag: "a")
        #expect(try await request.answer(from: cache).removed == 1)
        request.rule = .all
        #expect(try await request.answer(from: cache).removed == 1)
    }

    @Test func `it asks the running host`() async throws {
        let tool = try Tool()
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [], "managers": {}, "network": {"cache": {"memory": 1000000}}}"#,
            as: "cached.json")
        let host = try await tool.startRun(manifest)
        let stats = try await tool.start(["cache", "stats"]).end()
        #expect(stats.status == 0 && stats.output.contains("1 MB") && stats.output.contains("268.4 MB"), "\(stats)")
        let list = try await tool.start(["cache", "list", "--json"]).end()
        let entries = try JSONDecoder().decode([CacheEntry].self, from: Data(list.output.utf8))
        #expect(list.status == 0 && entries == [], "\(list)")
        let flush = try await tool.start(["cache", "flush", "--all", "--json"]).end()
        let removed = try JSONDecoder().decode([String: Int].self, from: Data(flush.output.utf8))
        #expect(flush.status == 0 && removed == ["removed": 0], "\(flush)")
        let show = try await tool.start(["cache", "show", "https://books.test/"]).end()
        #expect(show.status == 1 && show.output == "" && show.errors.contains("network.cache"), "\(show)")
        host.signal(SIGTERM)
        _ = await host.end()
    }
}
