import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneSQLite
import BackplaneTestKit
import Foundation
import Synchronization

/// The rows of caches, equal requests and limits.
///
/// The rows of misses are judged by instructions (`--instructions`); without that option they measure processor time.
struct CacheRows {
    private static let size = 1_024
    let rig: HTTPRig

    var rows: [Row] { misses + hits + [equal] + many }

    // MARK: Misses

    /// The rows of exchanges of which every one differs from all others by a field, so that no cache answers it.
    private var misses: [Row] {
        let url = rig.url(Self.size), number = Atomic(0), executor = AsyncHTTPClientExecutor(proxies: .none)
        let limits: NetworkLimits = [
            "127.0.0.1": HostLimits(
                concurrent: 64, perSecond: 100_000, burst: 1_000, breaker: HostLimits.Breaker())
        ]
        let plain = HTTPPipeline([executor], cache: nil)
        // The cache is full after a moment, so that each response that is stored removes another one.
        let full = HTTPPipeline([executor], cache: ResponseCache(memory: 256 << 10), limits: limits)
        var alone = HTTPOptions(), cached = HTTPOptions()
        alone.equalRequests = .allow
        cached.cache = .memory(for: .seconds(3_600))
        let send: @Sendable (String, HTTPPipeline, HTTPOptions) async throws -> Void = { name, network, options in
            let id = "\(number.add(1, ordering: .relaxed).newValue)"
            let response = try await network.send(HTTPRequest("GET", url, headers: ["X-Request-ID": id]), options)
            guard response.body.count == Self.size else {
                throw Row.Miscount(row: name, calls: Self.size, result: response.body.count)
            }
        }
        let off = "1 KB, everything off", on = "1 KB, everything on, a miss"
        return [
            processorTime(off, .microseconds) { [alone] in try await send(off, plain, alone) },
            processorTime(on, .microseconds, baseline: off, target: .ratio(atMost: 1.3)) { [cached] in
                try await send(on, full, cached)
            },
        ]
    }

    /// Creates a row for the processor time of one step.
    private func processorTime(
        _ name: String, _ unit: Row.Unit, baseline: String? = nil, target: Target? = nil,
        _ step: @escaping @Sendable () async throws -> Void
    ) -> Row {
        Row(name: name, unit: unit, baseline: baseline, target: target) { count in
            let before = ProcessTime.now
            for _ in 0..<count { try await step() }
            return unit.figure(nanoseconds: (ProcessTime.now - before) / .nanoseconds(1) / Double(count))
        }
    }

    // MARK: Hits

    /// The rows of loads that are all answered from a cache, except the first one.
    private var hits: [Row] {
        let typed = LibraryServer(row: "typed memory hit"), decoded = LibraryServer(row: "disk hit, decoded")
        let memory = typed.client(ResponseCache()), folder = rig.folder + "/cache-hits"
        let disk = LazyValue {
            let cache = try SQLiteResponseCache(folder: folder) { _ in }
            return decoded.client(ResponseCache(disk: cache))
        }
        let fromMemory = endpoint(.memory(for: .seconds(3_600))), fromDisk = endpoint(.disk(for: .seconds(3_600)))
        return [
            processorTime(typed.row, .nanoseconds, target: .median(atMost: 3_333)) {
                try typed.check(try await memory.load(fromMemory))
            },
            .calls(decoded.row, unit: .microseconds, target: .median(atMost: 66.7)) { count in
                let http = try await disk.value()
                for _ in 0..<count { try decoded.check(try await http.load(fromDisk)) }
                return count
            },
        ]
    }

    private func endpoint(_ policy: CachePolicy) -> Endpoint<BenchLibrary> {
        var endpoint = Endpoint<BenchLibrary>("GET", "http://books.test/library")
        endpoint.allowsFullURL = true
        endpoint.options.cache = policy
        return endpoint
    }

    // MARK: Equal loads

    /// The row of equal loads that begin at once, of which one makes the exchange.
    ///
    /// The server sends one byte, and the others once every load has received it, and so follows the exchange.
    private var equal: Row {
        let name = "10,000 equal loads at once", endpoint = endpoint(.none)
        return Row(
            name: name, unit: .milliseconds, target: .median(atMost: 150), limit: 10_000, count: 10_000, rounds: 5
        ) { count in
            let gate = TestGate(), server = LibraryServer(row: name, gate), http = server.client(nil),
                joined = Atomic(0)
            let progress: @Sendable (HTTPProgress) -> Void = { progress in
                guard progress.received == 1 else { return }
                if joined.add(1, ordering: .relaxed).newValue == count { gate.open() }
            }
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { try server.check(try await http.load(endpoint, progress: progress)) }
                }
                try await group.waitForAll()
            }
            return Row.Unit.milliseconds.figure(nanoseconds: (ContinuousClock.now - start) / .nanoseconds(1))
        }
    }

    // MARK: Many responses

    /// The rows of 20,000 reads of 100,000 responses on the disk.
    private var many: [Row] {
        let responses = ManyResponses(folder: rig.folder + "/cache-many")
        let figures = SharedFigures { try await responses.figures(ofReads: $0) }
        func row(_ name: String, _ figure: String, _ unit: Row.Unit, atMost bound: Double) -> Row {
            Row(
                name: name, unit: unit, target: .median(atMost: bound), summary: .highest, limit: 20_000,
                count: 20_000, rounds: 1
            ) { try await figures.required(figure, count: $0) }
        }
        return [
            row("p99 of a read, 100,000 entries on disk", "p99", .milliseconds, atMost: 2),
            row("memory that reading 100,000 entries adds", "memory", .megabytes, atMost: 8),
        ]
    }
}

/// A server in memory, which sends a ``BenchLibrary`` of 1 KB and counts the exchanges.
private final class LibraryServer: Sendable {
    let row: String
    /// The gate that holds back all but the first byte.
    private let gate: TestGate
    private let json = BenchLibrary.json(atLeast: 1_024)
    private let volumes = BenchLibrary.count(inJSONOf: 1_024)
    private let exchanges = Atomic(0)

    init(row: String, _ gate: TestGate = TestGate(isOpen: true)) { (self.row, self.gate) = (row, gate) }

    func client(_ cache: ResponseCache?) -> HTTPClient {
        let executor = MemoryExecutor { [self] _, _ in
            exchanges.add(1, ordering: .relaxed)
            return HTTPStreamedResponse(status: 200, body: body)
        }
        return HTTPClient(HTTPPipeline([executor], cache: cache))
    }

    private var body: HTTPBodyStream {
        let pieces = Mutex([json.prefix(1), json.dropFirst()])
        return HTTPBodyStream { [gate] in
            guard let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return nil }
            if piece.count > 1 { try await gate.pass() }
            return Array(piece)
        }
    }

    /// Throws unless a load returned the whole library, and all loads so far made one exchange.
    func check(_ library: BenchLibrary) throws {
        guard library.volumes.count == volumes else {
            throw Row.Miscount(row: row, calls: volumes, result: library.volumes.count)
        }
        let exchanges = exchanges.load(ordering: .relaxed)
        guard exchanges == 1 else { throw Row.Miscount(row: row, calls: 1, result: exchanges) }
    }
}

/// A cache on the disk with five responses of 1 KB for each read.
private struct ManyResponses {
    private static let size = 1_024, limit = 1_000_000_000
    /// The number of tasks that store responses.
    private static let width = 8
    let folder: String

    /// Reads random responses.
    ///
    /// - Returns: The 99th percentile of the durations in milliseconds, `p99`; and the millions of bytes by which the
    ///   resident memory has grown since a twentieth of the reads, `memory`.
    func figures(ofReads count: Int) async throws -> [String: Double] {
        try await fill(5 * count)
        let cache = try open()
        var times: [Double] = [], first = 0.0
        times.reserveCapacity(count)
        for number in 0..<count {
            if number == count / 20 { first = try Self.resident() }
            let key = Self.key(.random(in: 0..<5 * count)), start = ContinuousClock.now
            let response = try await cache.load(key)
            times.append((ContinuousClock.now - start) / .nanoseconds(1))
            guard response?.body.count == Self.size else {
                throw Row.Miscount(row: "a read from the disk", calls: Self.size, result: response?.body.count ?? 0)
            }
        }
        let last = try Self.resident()
        return [
            "p99": Row.Unit.milliseconds.figure(nanoseconds: Sample(times).p99), "memory": max(0, last - first) / 1e6,
        ]
    }

    /// Stores the responses that an earlier measurement has not stored.
    private func fill(_ count: Int) async throws {
        let cache = try open(), stored = try await cache.usage?.entries ?? 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<Self.width {
                group.addTask {
                    for number in stride(from: stored + part, to: count, by: Self.width) {
                        try await cache.store(Self.response(number), for: Self.key(number))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func open() throws -> SQLiteResponseCache {
        try SQLiteResponseCache(folder: folder, limit: Self.limit) { _ in }
    }

    private static func key(_ number: Int) -> String { ContentDigest.sha256(of: Array("\(number)".utf8)).hexadecimal }

    private static func response(_ number: Int) -> CachedResponse {
        let body = [UInt8](repeating: 0x78, count: size), now = Date()
        return CachedResponse(
            key: key(number), url: "http://books.test/volumes/\(number)", endpoint: "Volume", tags: [],
            HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: body), requested: now,
            received: now, expires: now.addingTimeInterval(3_600), varying: [:])
    }

    private static func resident() throws -> Double { try ProcessMemory.figures(ofProcess: "self")["Rss"] ?? .nan }
}
