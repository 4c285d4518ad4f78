import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import GRDB
import Glibc
import TestFixtures
import Testing

@testable import BackplaneSQLite

/// The cache on the disk: what it stores, what it removes, and what it makes of damage and of a full disk.
@Suite(.timeLimit(.minutes(5)))
struct SQLiteResponseCacheTests {
    private let fixture: CacheFixture
    init() throws { fixture = try CacheFixture() }

    private func store(_ response: CachedResponse, in cache: SQLiteResponseCache) async throws {
        try await cache.store(response, for: response.key)
    }

    private func keys(_ cache: SQLiteResponseCache) async throws -> [String] {
        try await #require(cache.entries(of: nil, limit: 1_000)).map(\.key)
    }

    @Test(arguments: [0, 1, 256 << 10, (256 << 10) + 1, 3 << 20])
    func `a response is the same after a restart, in the row or in a file`(count: Int) async throws {
        let response = CachedResponse.sample("a", count, endpoint: "covers", tags: ["b", "ü"])
        try await store(response, in: fixture.open())
        let cache = try fixture.open()
        #expect(try await cache.load("a") == response)
        #expect(try await cache.load("b") == nil)
        #expect(try fixture.bodies().count == (count > 256 << 10 ? 1 : 0))
        let usage = try await #require(cache.usage)
        #expect(usage.entries == 1 && usage.bytes == response.cost)
    }

    @Test func `a response with nothing optional, and dates at the ends of time, is the same`() async throws {
        let cache = try fixture.open()
        var response = CachedResponse(
            key: "a", url: "", endpoint: nil, tags: [], HTTPResponse(status: 200), requested: .distantPast,
            received: Date(timeIntervalSince1970: 0), expires: .distantFuture, varying: [:])
        for name in ["X", "Y"] { response.headers.add(name, "\u{0}\n") }
        try await store(response, in: cache)
        #expect(try await cache.load("a") == response)
    }

    @Test func `another response replaces that with the same key, and its file`() async throws {
        let cache = try fixture.open()
        for (count, byte) in [(1 << 20, 65), (1 << 20, 66), (3, 67), (1 << 20, 68)] as [(Int, UInt8)] {
            let response = CachedResponse.sample("a", count, byte: byte)
            try await store(response, in: cache)
            #expect(try await cache.load("a") == response)
            #expect(try fixture.bodies().count == (count > 3 ? 1 : 0))
            #expect(try await cache.usage?.bytes == response.cost)
        }
        #expect(try await keys(cache) == ["a"])
    }

    @Test func `files are for this user alone, and are small again after a flush`() async throws {
        let cache = try fixture.open()
        for number in 0..<40 { try await store(.sample("\(number)", 200_000), in: cache) }
        try await store(.sample("large", 1 << 20), in: cache)
        for name in try FileManager.default.subpathsOfDirectory(atPath: fixture.folder) {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(fixture.folder)/\(name)")[.posixPermissions]
            #expect(mode as? Int == (name == "bodies" ? 0o700 : 0o600), "\(name)")
        }
        #expect(try await cache.removeExpired(.all) == 41)
        #expect(try await cache.usage?.bytes == 0)
        #expect(try fixture.bodies() == [])
        let database = try DatabaseQueue(path: fixture.file)
        #expect(try await database.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? .max } < 40)
    }

    @Test func `each rule removes what meets all of its conditions`() async throws {
        let cache = try fixture.open()
        let all: [CachedResponse] = [
            .sample("1", url: "http://books.test/a", endpoint: "list", tags: ["a"], expires: 10),
            .sample("2", url: "http://books.test/a/b", endpoint: "list", tags: ["xa", "b"], expires: 20),
            .sample("3", 1 << 20, url: "http://books.test/b", endpoint: "one", tags: ["a", "b"], expires: 30),
            .sample("4", url: "http://books.test/%", endpoint: nil, expires: 40),
        ]
        let rules = [
            CacheExpiry(date: Date(timeIntervalSinceReferenceDate: 20)), CacheExpiry(endpoint: "list"),
            CacheExpiry(endpoint: "lis"), CacheExpiry(prefix: "http://books.test/a"), CacheExpiry(prefix: ""),
            CacheExpiry(prefix: "http://books.test/%"), CacheExpiry(tag: "a"), CacheExpiry(tag: "b"),
            CacheExpiry(endpoint: "list", tag: "a"), CacheExpiry(prefix: "http://books.test/b", tag: "a"), .all,
        ]
        for rule in rules {
            for response in all { try await store(response, in: cache) }
            let selected = all.filter(rule.selects)
            #expect(try await cache.removeExpired(rule) == selected.count, "\(rule)")
            let left = Set(all.map(\.key)).subtracting(selected.map(\.key))
            #expect(try await Set(keys(cache)) == left, "\(rule)")
            #expect(try fixture.bodies().count == (left.contains("3") ? 1 : 0))
        }
    }

    @Test func `above the limit, the least recently used go, until a tenth is free`() async throws {
        let cost = CachedResponse.sample("000", 100_000).cost, cache = try fixture.open(limit: 20 * cost)
        for number in 0..<20 {
            try await store(.sample("\(100 + number)", 100_000), in: cache)
            fixture.pass(1)
        }
        fixture.pass(100)
        _ = try await cache.load("100")
        try await store(.sample("200", 100_000), in: cache)
        await cache.settle()
        let left = try await Set(keys(cache))
        #expect(left.contains("100") && left.contains("200") && !left.contains("101") && !left.contains("102"))
        #expect(left.count == 18)
        let usage = try await #require(cache.usage)
        #expect(usage.entries == 18 && usage.bytes == 18 * cost && usage.evictions == 3)
    }

    @Test func `a lower limit holds from the next start on, and large bodies go with their rows`() async throws {
        do {
            let cache = try fixture.open()
            for number in 0..<10 { try await store(.sample("\(number)", 1 << 20), in: cache) }
        }
        let cache = try fixture.open(limit: 4 << 20)
        await cache.settle()
        #expect(try await cache.usage?.entries == 3)
        #expect(try fixture.bodies().count == 3)
        let large = CachedResponse.sample("large", 5 << 20)
        try await store(large, in: cache)
        #expect(try await cache.load("large") == nil)
        #expect(try await cache.usage?.entries == 3)
    }

    @Test func `uses are counted again after a restart`() async throws {
        let cost = CachedResponse.sample("0").cost
        do {
            let cache = try fixture.open()
            for number in 0..<10 {
                try await store(.sample("\(number)"), in: cache)
                fixture.pass(1)
            }
            fixture.pass(100)
            #expect(try await cache.load("0") != nil)
        }
        let cache = try fixture.open(limit: 2 * cost)
        await cache.settle()
        #expect(try await keys(cache) == ["0"])
    }

    // MARK: Damage

    @Test(arguments: ["short", "longer", "missing"])
    func `half a body is never served, and its row goes`(kind: String) async throws {
        let cache = try fixture.open()
        try await store(.sample("a", 1 << 20), in: cache)
        let path = try fixture.folder + "/bodies/" + #require(fixture.bodies().first)
        switch kind {
        case "short": truncate(path, 1 << 19)
        case "longer": truncate(path, 1 << 21)
        default: unlink(path)
        }
        #expect(try await cache.load("a") == nil)
        #expect(try await keys(cache) == [] && fixture.bodies() == [])
        try await store(.sample("a", 1 << 20), in: cache)
        #expect(try await cache.load("a") != nil)
        #expect(fixture.reports.isEmpty)
    }

    @Test func `files that no row names are removed when nobody else has the cache open`() async throws {
        let cache = try fixture.open()
        try await store(.sample("a", 1 << 20), in: cache)
        try Data("half".utf8).write(to: URL(filePath: fixture.folder + "/bodies/left"))
        let second = try fixture.open()
        #expect(try fixture.bodies().count == 2, "it may be that of a response that is being stored")
        withExtendedLifetime((cache, second)) {}
    }

    @Test func `files that a killed process left are removed`() async throws {
        do { try await store(.sample("a", 1 << 20), in: fixture.open()) }
        try Data("half".utf8).write(to: URL(filePath: fixture.folder + "/bodies/left"))
        let cache = try fixture.open()
        #expect(try fixture.bodies().count == 1)
        #expect(try await cache.load("a") != nil)
    }

    /// Overwrites a part of the closed cache's file.
    private func damage(at offset: UInt64, _ count: Int) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: fixture.file))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0x5A, count: count))
        try file.close()
    }

    @Test(arguments: ["no database", "another version", "the index of files"])
    func `a file that is found damaged when it is opened is reported, and begun again`(kind: String) async throws {
        do {
            let cache = try fixture.open()
            for number in 0..<100 { try await store(.sample("\(number)", 2_000), in: cache) }
            try await store(.sample("large", 1 << 20), in: cache)
        }
        switch kind {
        case "no database": try damage(at: 0, 4_096)
        case "another version":
            try await DatabaseQueue(path: fixture.file).write { try $0.execute(sql: "PRAGMA user_version = 99") }
        default: try damage(at: 4_096, 200_000)
        }
        let cache = try fixture.open()
        #expect(fixture.reports.map(\.code) == [.networkCache])
        #expect(try await keys(cache) == [] && fixture.bodies() == [])
        try await store(.sample("a"), in: cache)
        #expect(try await fixture.open().load("a") == .sample("a"))
    }

    @Test func `damage that a load finds fails that load, and the cache begins again`() async throws {
        do {
            let cache = try fixture.open()
            for number in 0..<100 { try await store(.sample("\(number)", 2_000), in: cache) }
        }
        // The tables are described before that, and read when the cache is opened.
        try damage(at: 98_304, 150_000)
        let cache = try fixture.open()
        var error: BackplaneError?
        for number in 0..<100 where error == nil {
            do { _ = try await cache.load("\(number)") } catch let found { error = found as? BackplaneError }
        }
        #expect(error?.code == .networkCache && error?.location == fixture.file)
        #expect(fixture.reports.map(\.code) == [.networkCache])
        #expect(try await cache.load("57") == nil)
        try await store(.sample("a"), in: cache)
        #expect(try await fixture.open().load("a") == .sample("a"))
    }

    @Test func `damage that is found while another process has the cache open waits for that process`() async throws {
        do {
            let cache = try fixture.open()
            for number in 0..<100 { try await store(.sample("\(number)", 2_000), in: cache) }
        }
        do {
            let caches = [try fixture.open(), try fixture.open()]
            try damage(at: 8_192, 200_000)
            await #expect(throws: BackplaneError.self) { try await caches[0].load("7") }
            #expect(try await caches[0].load("7") == nil)
            let error = await #expect(throws: BackplaneError.self) { try await store(.sample("a"), in: caches[0]) }
            #expect(error?.code == .networkCache)
        }
        let cache = try fixture.open()
        #expect(try await keys(cache) == [])
        try await store(.sample("a"), in: cache)
    }

    @Test func `on a full disk a response is refused, and those before it are loaded`() async throws {
        try FileManager.default.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        guard mount("none", fixture.folder, "tmpfs", 0, "size=4m") == 0 else {
            try Test.cancel("the right to mount is needed")
        }
        defer { umount2(fixture.folder, Int32(MNT_DETACH)) }
        let cache = try fixture.open()
        try await store(.sample("a"), in: cache)
        for count in [300_000, 20_000] {
            var failure: BackplaneError?
            for number in 0..<1_000 where failure == nil {
                do {
                    try await store(.sample("\(count)/\(number)", count), in: cache)
                } catch {
                    failure = error as? BackplaneError
                }
            }
            #expect(failure?.code == .networkCache)
            #expect(failure?.message.hasPrefix("the disk is full") == true, "\(String(describing: failure))")
        }
        fixture.pass(1_000)
        #expect(try await cache.load("a") == .sample("a"))
        for entry in try await #require(cache.entries(of: nil, limit: 1_000)) {
            #expect(try await cache.load(entry.key)?.body.count == entry.size)
        }
    }

    // MARK: Others

    @Test func `two processes share the cache, its counts and its limit`() async throws {
        let cost = CachedResponse.sample("0/0", 100_000).cost
        let caches = [try fixture.open(limit: 20 * cost), try fixture.open(limit: 20 * cost)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, cache) in caches.enumerated() {
                group.addTask {
                    for number in 0..<40 {
                        try await cache.store(.sample("\(index)/\(number)", 100_000), for: "\(index)/\(number)")
                        _ = try await caches[1 - index].load("\(index)/\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        for cache in caches { await cache.settle() }
        let counts = try await caches.asyncMap { try await $0.usage?.entries }
        #expect(counts[0] == counts[1] && counts[0] ?? 99 <= 20)
    }

    @Test func `entries are listed by their use, of one URL or all, without a secret`() async throws {
        let cache = try fixture.open()
        for number in 0..<5 {
            let url = "http://books.test/\(number % 2)"
            try await store(.sample("\(number)", number, url: url, tags: ["t"]), in: cache)
            fixture.pass(1)
        }
        let all = try await #require(cache.entries(of: nil, limit: 3))
        #expect(all.map(\.key) == ["4", "3", "2"] && all.map(\.size) == [4, 3, 2])
        #expect(all[0].place == "disk" && all[0].status == 203 && all[0].tags == ["t"])
        #expect(try await cache.entries(of: "http://books.test/1", limit: 9)?.map(\.key) == ["3", "1"])
    }

    @Test(arguments: [[], [""], ["a", ""], [String(repeating: "ü", count: 300), "b"]])
    func `strings are packed and unpacked, and bytes that are no list are none`(strings: [String]) throws {
        let packed = PackedStrings.pack(strings)
        #expect(PackedStrings.unpack(packed) == strings)
        guard let packed else { return }
        for count in 1..<packed.count where count < 20 {
            let part = PackedStrings.unpack(packed.prefix(count))
            #expect(part == nil || strings.starts(with: part!))
        }
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
