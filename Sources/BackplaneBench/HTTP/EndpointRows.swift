import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Synchronization

/// The rows of endpoints: loads of JSON into values, compared with AsyncHTTPClient and `JSONDecoder` alone.
///
/// They are judged by instructions (`--instructions`); without that option they measure processor time.
struct EndpointRows {
    let rig: HTTPRig

    var rows: [Row] { small + large + many }

    private func endpoint(_ url: String) -> Endpoint<BenchLibrary> {
        var endpoint = Endpoint<BenchLibrary>("GET", url)
        endpoint.allowsFullURL = true
        return endpoint
    }

    /// The rows of prepared endpoints with 1 KB of JSON.
    private var small: [Row] {
        let rig = rig, url = rig.jsonURL(1_024), endpoint = endpoint(url), bare = "1 KB of JSON, bare AsyncHTTPClient"
        let http = HTTPClient(rig.client)
        return [
            loads(bare, 1_024) { try await rig.bare.load(BenchLibrary.self, url) },
            loads("1 KB of JSON, load", 1_024, baseline: bare, atMost: 1.2) { try await http.load(endpoint) },
            loads("1 KB of JSON, plugin with an observer", 1_024, baseline: bare, atMost: 1.4) {
                try await rig.observed.http.load(endpoint, rig.observed.begin())
            },
        ]
    }

    /// The rows of 1 MB of JSON in memory.
    private var large: [Row] {
        let size = 1_000_000, json = BenchLibrary.json(atLeast: size), data = Data(json),
            decoder = "1 MB of JSON, JSONDecoder alone"
        let http = HTTPClient([MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200, body: json)) }])
        let endpoint = endpoint("http://books.test/library")
        return [
            loads(decoder, size) { try JSONDecoder().decode(BenchLibrary.self, from: data) },
            loads("1 MB of JSON, load", size, baseline: decoder, atMost: 1.02) { try await http.load(endpoint) },
        ]
    }

    /// Creates a row for the processor time of a load.
    private func loads(
        _ name: String, _ bytes: Int, baseline: String? = nil, atMost bound: Double? = nil,
        _ load: @escaping @Sendable () async throws -> BenchLibrary
    ) -> Row {
        let volumes = BenchLibrary.count(inJSONOf: bytes)
        return Row(
            name: name, unit: .microseconds, baseline: baseline, target: bound.map { .ratio(atMost: $0) },
            limit: bytes > 100_000 ? 10 : .max, rounds: 15
        ) { count in
            let before = ProcessTime.now
            for _ in 0..<count {
                let library = try await load()
                guard library.volumes.count == volumes, library.volumes.last?.number == volumes - 1 else {
                    throw Row.Miscount(row: name, calls: volumes, result: library.volumes.count)
                }
            }
            return Row.Unit.microseconds.figure(
                nanoseconds: (ProcessTime.now - before) / .nanoseconds(1) / Double(count))
        }
    }

    // MARK: Many loads

    /// The rows of 10,000 loads on 50 hosts with retries.
    private var many: [Row] {
        let figures = SharedFigures { try await ManyLoads(rig: rig).figures(of: $0) }
        func row(_ name: String, _ figure: String, _ unit: Row.Unit, atMost bound: Double) -> Row {
            Row(
                name: name, unit: unit, target: .median(atMost: bound), summary: .highest, limit: 10_000,
                count: 10_000, rounds: 1
            ) { try await figures.required(figure, count: $0) }
        }
        return [
            row("memory that 10,000 loads on 50 hosts add to 1,000", "memory", .megabytes, atMost: 16),
            row("loads left of 10,000", "left", .failures, atMost: 0),
            row("failures of 10,000 loads", "failed", .failures, atMost: 0),
        ]
    }
}

/// Loads with callbacks, on all hosts of the rig, with rules for retries.
private struct ManyLoads {
    /// A load, without retaining it.
    private struct Started { weak var load: EndpointLoad<BenchLibrary>? }
    private static let width = 50
    let rig: HTTPRig

    /// Makes loads.
    ///
    /// - Returns: The millions of bytes by which the resident memory has grown since a tenth of the loads, `memory`;
    ///   the number of remaining loads, `left`; and the number of failed loads, `failed`.
    func figures(of count: Int) async throws -> [String: Double] {
        var http = HTTPClient(rig.client)
        http.defaults.retry = RetryPolicy(attempts: 3)
        let endpoints = (0..<HTTPRig.hosts).map { host in
            var endpoint = Endpoint<BenchLibrary>("GET", rig.jsonURL(1_024, host: host))
            endpoint.allowsFullURL = true
            return endpoint
        }
        let failed = Atomic(0), completed = Atomic(0), tenth = max(1, count / 10)
        var started: [Started] = [], first = 0.0, number = 0
        started.reserveCapacity(count)
        while number < count {
            // One load for each host at a time; no batch crosses the end of the first tenth.
            let end = min(count, number + Self.width, number < tenth ? tenth : count)
            let loads = (number..<end).map { endpoints[$0 % endpoints.count].load(on: http) }
            for load in loads {
                load.onCompletion { result in
                    if case .failure = result { failed.add(1, ordering: .relaxed) }
                    completed.add(1, ordering: .relaxed)
                }
                started.append(Started(load: load))
            }
            for load in loads { _ = await load.result }
            number = end
            if number == tenth { first = try Self.resident() }
        }
        let last = try Self.resident(), end = ContinuousClock.now + .seconds(5)
        // A load ends a moment after its result is there.
        while ContinuousClock.now < end {
            if completed.load(ordering: .relaxed) == count, started.allSatisfy({ $0.load == nil }) { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        let left = max(started.count { $0.load != nil }, count - completed.load(ordering: .relaxed))
        return [
            "memory": max(0, last - first) / 1e6, "left": Double(left),
            "failed": Double(failed.load(ordering: .relaxed)),
        ]
    }

    private static func resident() throws -> Double { try ProcessMemory.figures(ofProcess: "self")["Rss"] ?? .nan }
}
