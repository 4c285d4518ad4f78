import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The rules of HTTP for caches (RFC 9111) as a function of messages and times.
struct CacheRulesTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000_000)  // Sun, 09 Sep 2001 01:46:40 GMT
    private let request = HTTPRequest("GET", "http://books.test/")

    private func stored(
        _ headers: HTTPHeaders, status: Int = 200, age: Double = 0, request: HTTPRequest? = nil
    ) -> CachedResponse {
        let time = Self.now.addingTimeInterval(-age)
        let names = headers.values("Vary").map { $0.lowercased() }
        var varying: [String: String] = [:]
        for name in names { varying[name] = (request ?? self.request).headers[name] }
        return CachedResponse(
            key: "", url: "", endpoint: nil, tags: [], HTTPResponse(status: status, headers: headers), requested: time,
            received: time, expires: time, varying: varying)
    }

    private func decision(
        _ headers: HTTPHeaders, age: Double, asking: HTTPHeaders = [:], _ policy: CachePolicy = .http
    ) -> CacheDecision {
        let request = HTTPRequest("GET", "http://books.test/", headers: asking)
        return CacheRules(policy).decide(request, stored(headers, age: age), at: Self.now)
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], 59, true), (["Cache-Control": "max-age=60"], 61, false),
            (["Cache-Control": "MAX-AGE=\"60\", foo=\"a, max-age=0\""], 30, true),
            (["Cache-Control": "max-age=60, max-age=10"], 30, false), (["Cache-Control": "max-age=sixty"], 0, false),
            (["Cache-Control": "max-age=-1"], 0, false), (["Cache-Control": "max-age=99999999999999999999"], 1e9, true),
            (["Cache-Control": ",,;;=,max-age=60"], 30, true), (["Cache-Control": "no-cache, max-age=60"], 1, false),
            (["Cache-Control": "max-age=60", "Age": "50"], 20, false),
            (["Cache-Control": "max-age=60", "Age": "often"], 20, true),
            (["Expires": "Sun, 09 Sep 2001 01:47:40 GMT", "Date": "Sun, 09 Sep 2001 01:46:40 GMT"], 30, true),
            (["Expires": "Sunday, 09-Sep-01 01:47:40 GMT", "Date": "Sun, 09 Sep 2001 01:46:40 GMT"], 30, true),
            (["Expires": "Sun Sep  9 01:47:40 2001", "Date": "Sun, 09 Sep 2001 01:46:40 GMT"], 30, true),
            (["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"], 1e6, true),
            (["Expires": "Thu, 01 Jan 1970 00:00:00 GMT"], 0, false),
            (["Expires": "0"], 0, false), (["Expires": "2001-09-09T01:47:40Z"], 0, false), ([:], 0, false),
            // A tenth of the time since the last change.
            (["Last-Modified": "Sun, 09 Sep 2001 01:30:00 GMT", "Date": "Sun, 09 Sep 2001 01:46:40 GMT"], 99, true),
            (["Last-Modified": "Sun, 09 Sep 2001 01:30:00 GMT", "Date": "Sun, 09 Sep 2001 01:46:40 GMT"], 101, false),
        ] as [(HTTPHeaders, Double, Bool)])
    func `a response is fresh for the time that it says`(headers: HTTPHeaders, age: Double, isFresh: Bool) {
        #expect((decision(headers, age: age) == .reuse) == isFresh)
    }

    @Test func `the request limits what it accepts`() {
        let hour: HTTPHeaders = ["Cache-Control": "max-age=3600", "ETag": "\"1\""]
        let ask = CacheDecision.validate(["If-None-Match": "\"1\""])
        #expect(decision(hour, age: 100, asking: ["Cache-Control": "no-cache"]) == ask)
        #expect(decision(hour, age: 100, asking: ["Pragma": "no-cache"]) == ask)
        #expect(decision(hour, age: 100, asking: ["Cache-Control": "max-age=50"]) == ask)
        #expect(decision(hour, age: 100, asking: ["Cache-Control": "max-age=200"]) == .reuse)
        #expect(decision(hour, age: 3_000, asking: ["Cache-Control": "min-fresh=1000"]) == ask)
        #expect(decision(hour, age: 4_000, asking: ["Cache-Control": "max-stale=1000"]) == .reuse)
        #expect(decision(hour, age: 4_000, asking: ["Cache-Control": "max-stale=100"]) == ask)
        #expect(decision(hour, age: 4_000, asking: ["Cache-Control": "only-if-cached"]) == .fail)
        #expect(decision(hour, age: 100, asking: ["Cache-Control": "only-if-cached"]) == .reuse)
    }

    @Test func `a stale response answers as long as it or the policy says`() {
        let minute: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=60"]
        #expect(decision(minute, age: 100) == .reuseAndRefresh([:]))
        #expect(decision(minute, age: 121) == .fetch)
        #expect(
            decision(["Cache-Control": "max-age=60, must-revalidate"], age: 61, .staleWhileRevalidate(.seconds(99)))
                == .reuseAndRefresh([:]), "the lifetime is the policy's, whatever the server says")
        #expect(decision([:], age: 98, .staleWhileRevalidate(.seconds(99))) == .reuseAndRefresh([:]))
        #expect(decision([:], age: 100, .staleWhileRevalidate(.seconds(99))) == .fetch)
        let rules = CacheRules(.staleIfError(.seconds(99)))
        #expect(rules.mayAnswer(request, stored([:], age: 98), afterFailureAt: Self.now))
        #expect(!rules.mayAnswer(request, stored([:], age: 100), afterFailureAt: Self.now))
        let http = CacheRules(.http)
        #expect(
            http.mayAnswer(
                request, stored(["Cache-Control": "max-age=1, stale-if-error=9"], age: 9), afterFailureAt: Self.now))
        #expect(
            !http.mayAnswer(
                request, stored(["Cache-Control": "max-age=1, stale-if-error=9, must-revalidate"], age: 9),
                afterFailureAt: Self.now))
    }

    @Test func `a response that may not be stale never answers for a failing server`() {
        let fresh = stored(["Cache-Control": "max-age=60"], age: 10)
        #expect(!CacheRules(.http).mayAnswer(request, fresh, afterFailureAt: Self.now))
        let insisting = HTTPRequest("GET", "http://books.test/", headers: ["Cache-Control": "no-cache"])
        #expect(!CacheRules(.staleIfError(.seconds(99))).mayAnswer(insisting, fresh, afterFailureAt: Self.now))
        #expect(
            decision(["Cache-Control": "max-age=60"], age: 70, asking: ["Cache-Control": "max-stale, max-age=65"])
                == .fetch)
    }

    @Test func `a clock that was set back makes nothing fresh`() {
        #expect(decision(["Cache-Control": "max-age=60"], age: -100) == .fetch)
        #expect(decision([:], age: -100, .memory(for: .seconds(60))) == .fetch)
    }

    @Test func `a response answers requests with the same values of the fields that it varies with`() {
        let german = HTTPRequest("GET", "http://books.test/", headers: ["Accept-Language": "de, en"])
        let response = stored(["Cache-Control": "max-age=60", "Vary": "Accept-Language"], request: german)
        let spaced = HTTPRequest("GET", "http://books.test/", headers: ["accept-language": "de,en"])
        let rules = CacheRules()
        var entry = response
        entry.varying = ["accept-language": "de,en"]
        #expect(rules.decide(spaced, entry, at: Self.now) == .reuse)
        #expect(rules.decide(request, entry, at: Self.now) == .fetch)
        entry.headers["Vary"] = "*"
        #expect(rules.decide(spaced, entry, at: Self.now) == .fetch)
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], [:], 200, true), (["Cache-Control": "no-store"], [:], 200, false),
            ([:], [:], 200, true), ([:], [:], 500, false), (["Cache-Control": "max-age=60"], [:], 500, true),
            (["Cache-Control": "max-age=60", "Vary": "*"], [:], 200, false),
            (["Cache-Control": "private, max-age=60"], [:], 200, true),
            ([:], ["Cache-Control": "no-store"], 200, false),
            (["Cache-Control": "max-age=60"], ["Range": "bytes=0-1"], 206, false),
            (["Cache-Control": "must-understand, no-store, max-age=60"], [:], 200, true),
            (["Cache-Control": "must-understand, max-age=60"], [:], 599, false),
        ] as [(HTTPHeaders, HTTPHeaders, Int, Bool)])
    func `a private cache stores what it may`(
        headers: HTTPHeaders, asking: HTTPHeaders, status: Int, isStored: Bool
    ) {
        let request = HTTPRequest("GET", "http://books.test/", headers: asking)
        #expect(CacheRules().mayStore(HTTPResponse(status: status, headers: headers), to: request) == isStored)
    }

    @Test func `a shared cache stores nothing that is private`() {
        let rules = CacheRules(isShared: true),
            signed = HTTPRequest("GET", "http://books.test/", headers: ["Authorization": "a"])
        func response(_ control: String) -> HTTPResponse {
            HTTPResponse(status: 200, headers: ["Cache-Control": control])
        }
        #expect(!rules.mayStore(response("private, max-age=60"), to: request))
        #expect(!rules.mayStore(response("max-age=60"), to: signed))
        #expect(rules.mayStore(response("public, max-age=60"), to: signed))
        #expect(rules.mayStore(response("s-maxage=60"), to: signed))
    }

    @Test(
        arguments: [
            ("max-age=60", "no-store", true), ("max-age=60;x=\"1\", foo", "no-store", true),
            ("max-age=0", "max-age=60", false),
            ("no-store", "max-age=60", false), ("private", "max-age=60", false),
            // What is no dictionary of structured fields does not count.
            ("max-age=60, &&&", "no-store", false), ("max-age=\"60\"", "no-store", false),
            ("MAX-AGE=60", "no-store", false),
            ("max-age", "no-store", false), ("max-age=60, &&&", "max-age=60", true), ("", "max-age=60", true),
        ])
    func `a shared cache follows the directives that are for it alone`(own: String, general: String, isReused: Bool) {
        let headers: HTTPHeaders = [
            "CDN-Cache-Control": own, "Cache-Control": general, "Expires": "Fri, 31 Dec 9999 23:59:59 GMT",
        ]
        let rules = CacheRules(isShared: true), response = HTTPResponse(status: 200, headers: headers)
        let isFresh = rules.decide(request, stored(headers, age: 30), at: Self.now) == .reuse
        #expect((rules.mayStore(response, to: request) && isFresh) == isReused)
        #expect(
            CacheRules().mayStore(response, to: request) == general.contains("max-age"), "a private cache does not")
    }

    @Test(
        arguments: [
            (["If-None-Match": "\"1\""], 304), (["If-None-Match": "\"0\", W/\"1\""], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"2\""], 200), (["If-Modified-Since": "Sun, 09 Sep 2001 01:46:40 GMT"], 304),
            (["If-Modified-Since": "Sunday, 09-Sep-01 01:46:40 GMT"], 304),
            (["If-Modified-Since": "Sun, 09 Sep 2001 01:46:39 GMT"], 200), (["If-Modified-Since": "yesterday"], 200),
            (["If-None-Match": "\"2\"", "If-Modified-Since": "Sun, 09 Sep 2001 01:46:40 GMT"], 200),
        ] as [(HTTPHeaders, Int)])
    func `who has a stored response gets only its head`(asking: HTTPHeaders, status: Int) {
        var entry = stored([
            "ETag": "\"1\"", "Last-Modified": "Sun, 09 Sep 2001 01:46:40 GMT", "Content-Type": "text/plain",
        ])
        entry.body = Data("moby".utf8)
        let answer = entry.answer(to: HTTPRequest("GET", "http://books.test/", headers: asking))
        #expect(answer.status == status && answer.headers["ETag"] == "\"1\"")
        #expect(answer.body == (status == 200 ? Array("moby".utf8) : []))
        #expect(answer.headers["Content-Type"] == (status == 200 ? "text/plain" : nil))
    }

    @Test(
        arguments: [
            ("bytes=0-3", 206, "moby", "bytes 0-3/9"), ("bytes=5-", 206, "dick", "bytes 5-8/9"),
            ("BYTES=-2", 206, "ck", "bytes 7-8/9"), ("bytes=7-99999999999999999999", 206, "ck", "bytes 7-8/9"),
            ("bytes=9-", 416, "", "bytes */9"), ("bytes=-0", 416, "", "bytes */9"),
            ("bytes=3-2", 200, "moby-dick", nil), ("bytes=0-1,3-4", 200, "moby-dick", nil),
            ("pages=1-2", 200, "moby-dick", nil), ("bytes=-", 200, "moby-dick", nil),
            ("bytes=x-2", 200, "moby-dick", nil),
        ])
    func `a part of a stored response answers who asks for it`(
        range: String, status: Int, body: String, content: String?
    ) {
        var entry = stored(["Content-Length": "9"])
        entry.body = Data("moby-dick".utf8)
        let answer = entry.answer(to: HTTPRequest("GET", "http://books.test/", headers: ["Range": range]))
        #expect(answer.status == status && answer.body == Array(body.utf8))
        #expect(answer.headers["Content-Range"] == content && answer.headers["Content-Length"] == "\(body.utf8.count)")
    }

    @Test func `a confirmation updates the fields, and one of another response does not`() {
        let rules = CacheRules(), old = stored(["ETag": "\"1\"", "X-Count": "1", "Content-Length": "4", "Age": "9"])
        #expect(rules.mayConfirm(old, ["ETag": "W/\"1\""]) && rules.mayConfirm(old, [:]))
        #expect(!rules.mayConfirm(old, ["ETag": "\"2\""]) && !rules.mayConfirm(stored([:]), ["ETag": "\"1\""]))
        let confirmed = rules.confirmed(
            old, by: HTTPResponse(status: 304, headers: ["ETag": "\"1\"", "X-Count": "2", "Content-Length": "0"]),
            requested: Self.now, received: Self.now)
        #expect(
            confirmed.headers == ["Content-Length": "4", "ETag": "\"1\"", "X-Count": "2"]
                || confirmed.headers["Content-Length"] == "4" && confirmed.headers["X-Count"] == "2")
        #expect(confirmed.headers["Age"] == nil)
    }

    @Test func `an unsafe request that succeeds invalidates its URL and those that the response names`() {
        let order = HTTPRequest("POST", "http://books.test/orders")
        let made = HTTPResponse(
            status: 201, headers: ["Location": "/orders/7", "Content-Location": "http://evil.test/"])
        #expect(
            CacheRules.invalidated(by: made, to: order) == ["http://books.test/orders", "http://books.test/orders/7"])
        #expect(CacheRules.invalidated(by: HTTPResponse(status: 500), to: order).isEmpty)
        #expect(CacheRules.invalidated(by: made, to: request).isEmpty)
    }

    @Test func `a policy crosses boundaries as text`() throws {
        var both = CachePolicy.disk(for: .seconds(60))
        (both.staleWhileRevalidate, both.staleIfError) = (.seconds(5), .milliseconds(1_500))
        for policy in [CachePolicy.none, .http, .http(in: .memory), .memory(for: .zero), both] {
            #expect(try CachePolicy(text: policy.text) == policy)
        }
        for text in ["", "tape", "disk for", "disk for=-1", "memory for=1e99", "none for=1", "disk foo=1"] {
            #expect(throws: BackplaneError.self) { try CachePolicy(text: text) }
        }
    }
}

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
