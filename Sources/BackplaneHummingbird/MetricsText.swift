#if Engines
import BackplaneExchange
import BackplaneHost
import Synchronization

/// Metrics in the text format of Prometheus, version 0.0.4.
struct MetricsText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String { case counter, gauge, histogram, summary }
    typealias Labels = [(name: String, value: String)]
    private(set) var text = ""

    /// Adds a metric with its samples, if there are any.
    ///
    /// - Parameters:
    ///   - samples: The labels, the value and the suffix of the name of each sample, such as `_count`.
    mutating func add(
        _ kind: Kind, _ name: String, _ help: String, _ samples: [(suffix: String, labels: Labels, value: String)]
    ) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            text += "\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
        }
    }

    /// Adds a metric of whole numbers.
    mutating func add(_ kind: Kind, _ name: String, _ help: String, _ samples: [(labels: Labels, value: Int)]) {
        add(kind, name, help, samples.map { ("", $0.labels, "\($0.value)") })
    }

    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { "\\\"\n".utf8.contains($0) }) else { return value }
        return value.reduce(into: "") { text, character in
            switch character {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n", "\r\n": text += #"\n"#
            default: text.append(character)
            }
        }
    }
}

/// The counts that a server keeps, and their text together with the counts of the host.
final class ServerMetrics: Sendable {
    fileprivate struct Route: Hashable {
        var manager, name: String
    }
    fileprivate struct Requests {
        /// The number of answers with each status.
        var statuses: [Int: Int] = [:]
        /// The number of answers within each bound, and the number of longer ones.
        var times = Array(repeating: 0, count: bounds.count + 1)
        /// The sum of the times.
        var seconds = 0.0

        static let bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

        mutating func add(_ status: Int, _ time: Double) {
            statuses[status, default: 0] += 1
            times[Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count] += 1
            seconds += time
        }
    }
    private struct Change: Hashable {
        var operation, outcome: String
    }
    private struct Counts {
        var requests: [Route: Requests] = [:]
        var changes: [Change: Int] = [:]
    }
    private let counts = Mutex(Counts())

    /// The maximum number of routes that are counted by name, because each save may add more.
    private static let routeLimit = 10_000

    /// Counts an answered request, as a ``RouteObserver``.
    func note(manager: String, route: String, status: Int, time: Duration) {
        let seconds = time / .seconds(1)
        counts.withLock { counts in
            let route = Route(manager: manager, name: route)
            if counts.requests[route]?.add(status, seconds) != nil { return }
            let isOther = counts.requests.count >= Self.routeLimit
            counts.requests[isOther ? Route(manager: "other", name: "other") : route, default: Requests()]
                .add(status, seconds)
        }
    }

    /// Counts a change of the host.
    func note(_ event: HostEvent) {
        let change: Change? =
            switch event.kind {
            case .swapped(let report): Change(operation: "swap", outcome: report.outcome.rawValue)
            case .applied(let report): Change(operation: "apply", outcome: report.outcome.rawValue)
            case .reset(let report): Change(operation: "reset", outcome: report.outcome.rawValue)
            case .failed(let operation, _): Change(operation: operation.rawValue, outcome: "failed")
            case .started, .laneChanged, .missed: nil
            }
        if let change { counts.withLock { $0.changes[change, default: 0] += 1 } }
    }

    /// Returns all metrics; for them, the memory of all generations is measured.
    func text(of host: PluginHost) async -> String {
        let (requests, changes) = counts.withLock { ($0.requests, $0.changes) }
        var metrics = MetricsText()
        metrics.add(requests.sorted { ($0.key.manager, $0.key.name) < ($1.key.manager, $1.key.name) })
        metrics.add(await host.statistics)
        metrics.add(
            .counter, "backplane_changes_total", "Changes of the host by operation and outcome.",
            changes.map { ([("operation", $0.key.operation), ("outcome", $0.key.outcome)], $0.value) }
                .sorted { $0.labels.map(\.value).joined() < $1.labels.map(\.value).joined() })
        metrics.add((try? await host.generations()) ?? [])
        metrics.add((try? await host.cache.statistics()) ?? [])
        return metrics.text
    }
}

extension MetricsText {
    fileprivate mutating func add(_ requests: [(key: ServerMetrics.Route, value: ServerMetrics.Requests)]) {
        let rows = requests.map { route, requests in
            let words = route.name.split(separator: " ", maxSplits: 1).map(String.init)
            let labels: Labels = [
                ("manager", route.manager), ("method", words[0]), ("route", words.count > 1 ? words[1] : words[0]),
            ]
            return (labels: labels, requests: requests)
        }
        add(
            .counter, "backplane_http_requests_total",
            "Requests that plugins have answered; the status 0 means that the client left first.",
            rows.flatMap { row in
                row.requests.statuses.sorted { $0.key < $1.key }.map { status, count in
                    (row.labels + [("status", "\(status)")], count)
                }
            })
        add(
            .histogram, "backplane_http_request_duration_seconds",
            "Times from the head of a request to the end of its answer.",
            rows.flatMap { row in
                var sum = 0
                let buckets = row.requests.times.enumerated().map { index, count in
                    sum += count
                    let bounds = ServerMetrics.Requests.bounds
                    let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
                    return (suffix: "_bucket", labels: row.labels + [("le", bound)], value: "\(sum)")
                }
                return buckets + [
                    ("_sum", row.labels, "\(row.requests.seconds)"), ("_count", row.labels, "\(sum)"),
                ]
            })
    }

    fileprivate mutating func add(_ statistics: [ComponentStatistics]) {
        // Components of one name, such as collaborators of one class, have one sample.
        let rows = Dictionary(grouping: statistics) { [$0.component, $0.plugin, $0.managers.joined(separator: ",")] }
            .sorted { $0.key.joined(separator: "\0") < $1.key.joined(separator: "\0") }
            .map { names, members in
                let labels: Labels = [("component", names[0]), ("plugin", names[1]), ("managers", names[2])]
                return (labels: labels, members: members)
            }
        let numbers: [(Kind, String, String, KeyPath<ComponentStatistics, Int>)] = [
            (.counter, "calls_total", "Calls that were started.", \.calls),
            (.counter, "call_errors_total", "Calls that failed, without cancelled ones.", \.errors),
            (.gauge, "calls_in_flight", "Calls in flight.", \.inFlight),
            (.gauge, "calls_waiting", "Calls that wait for a change to end.", \.waiting),
            (.gauge, "streams_open", "Open streams that others read.", \.streams.open),
            (.counter, "streams_total", "Streams that were opened.", \.streams.opened),
            (.counter, "stream_elements_total", "Elements of streams that were taken.", \.streams.elements),
            (.counter, "exchanges_total", "HTTP exchanges that were started.", \.exchanges.begun),
            (.counter, "exchange_errors_total", "HTTP exchanges that failed.", \.exchanges.failed),
            (.gauge, "exchanges_in_flight", "HTTP exchanges in flight.", \.exchanges.inFlight),
            (.counter, "exchange_sent_bytes_total", "Bytes of request bodies.", \.exchanges.sent),
            (.counter, "exchange_received_bytes_total", "Bytes of response bodies.", \.exchanges.received),
        ]
        for (kind, name, help, value) in numbers {
            add(
                kind, "backplane_\(name)", help,
                rows.map { row in (row.labels, row.members.reduce(0) { $0 + $1[keyPath: value] }) })
        }
        add(
            .summary, "backplane_encoded_call_duration_seconds",
            "Times of encoded calls to the current instance, at most a quarter too long.",
            rows.flatMap { row -> [(suffix: String, labels: Labels, value: String)] in
                let times = row.members.compactMap(\.latency)
                guard let median = times.map(\.median).max(), let late = times.map(\.percentile99).max() else {
                    return []
                }
                return [
                    ("", row.labels + [("quantile", "0.5")], "\(median / .seconds(1))"),
                    ("", row.labels + [("quantile", "0.99")], "\(late / .seconds(1))"),
                    ("_count", row.labels, "\(times.reduce(0) { $0 + $1.calls })"),
                ]
            })
    }

    fileprivate mutating func add(_ generations: [Generation]) {
        let plugins = Dictionary(grouping: generations, by: \.plugin).sorted { $0.key < $1.key }
        add(
            .gauge, "backplane_generations", "Generations of plugins in memory.",
            plugins.flatMap { plugin, generations in
                Generation.State.allCases.map { state in
                    (
                        [("plugin", plugin), ("state", state.rawValue)],
                        generations.count { $0.state == state }
                    )
                }
            })
        add(
            .gauge, "backplane_generations_memory_bytes", "Memory that only the generations of the plugin use.",
            plugins.map { plugin, generations in
                ([("plugin", plugin)], generations.reduce(0) { $0 + ($1.dirtyBytes ?? 0) })
            })
    }

    fileprivate mutating func add(_ places: [CacheStatistics]) {
        func samples(_ value: (CacheStatistics) -> Int?) -> [(labels: Labels, value: Int)] {
            places.compactMap { place in value(place).map { ([("place", place.place)], $0) } }
        }
        add(.counter, "backplane_cache_hits_total", "Loads that the cache answered.", samples(\.hits))
        add(.counter, "backplane_cache_misses_total", "Loads that the cache did not answer.", samples(\.misses))
        add(.gauge, "backplane_cache_responses", "Responses in the cache.", samples { $0.usage?.entries })
        add(.gauge, "backplane_cache_bytes", "Size of the responses in the cache.", samples { $0.usage?.bytes })
        add(.counter, "backplane_cache_evictions_total", "Responses evicted.", samples { $0.usage?.evictions })
    }
}
#endif
