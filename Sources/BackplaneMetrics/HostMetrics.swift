#if Engines
public import BackplaneHost
public import Metrics
public import ServiceLifecycle

/// A service that reports the numbers of a host to swift-metrics.
///
/// ```swift
/// let plugins = PluginHostService(host), metrics = HostMetrics(host)
/// let group = ServiceGroup(
///     services: [plugins, metrics, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// The numbers cover the calls, streams and exchanges of each component, the changes by operation and outcome, and the
/// generations of each plugin. ``MeasuredExecutor`` measures HTTP requests.
public struct HostMetrics: Service {
    private let host: PluginHost
    private let interval: Duration
    private let factory: any MetricsFactory
    private let events: HostEvents

    /// Creates the service of a host, and begins to count the host's changes.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - interval: The time between two reports. Each report measures the memory of the generations.
    ///   - factory: The backend. Default: the bootstrapped backend of the program.
    public init(
        _ host: PluginHost, every interval: Duration = .seconds(10), factory: any MetricsFactory = MetricsSystem.factory
    ) {
        (self.host, self.interval, self.factory, events) = (host, interval, factory, host.events)
    }

    /// Reports until the service group shuts down or the task is cancelled, and then once more.
    public func run() async {
        async let _: Void = countChanges()
        var last: [Metric: Int] = [:]
        while true {
            let isLast = Task.isCancelled || Task.isShuttingDownGracefully
            last = await report(since: last)
            if isLast { return }
            try? await cancelWhenGracefulShutdown { [interval] in try await Task.sleep(for: interval) }
        }
    }

    /// Measures calls of the program as `rpc.client.call.duration`.
    ///
    /// ```swift
    /// let found = try await metrics.measure("Library/search") { try await library.search("whale", call) }
    /// ```
    ///
    /// - Parameters:
    ///   - method: The names of the contract and the method, which become `rpc.method`.
    ///   - body: The function that makes the calls; the code of its error becomes `error.type`.
    /// - Returns: The result of the function.
    public func measure<Result>(_ method: String, _ body: () async throws -> Result) async rethrows -> Result {
        try await factory.measure(
            "rpc.client.call.duration", [("rpc.system.name", "backplane"), ("rpc.method", method)], body)
    }

    private func countChanges() async {
        for await event in events {
            let (operation, outcome): (HostEvent.Operation, String)
            switch event.kind {
            case .swapped(let report): (operation, outcome) = (.swap, report.outcome.rawValue)
            case .applied(let report): (operation, outcome) = (.apply, report.outcome.rawValue)
            case .reset(let report): (operation, outcome) = (.reset, report.outcome.rawValue)
            case .failed(let failed, _): (operation, outcome) = (failed, "failed")
            case .started, .laneChanged, .missed: continue
            }
            let dimensions = [("backplane.operation", operation.rawValue), ("backplane.outcome", outcome)]
            Counter(label: "backplane.change.count", dimensions: dimensions, factory: factory).increment()
        }
    }

    private struct Metric: Hashable {
        enum Kind { case counter, gauge }
        var kind: Kind, label: String, names: [String: String]
        var dimensions: [(String, String)] { names.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }

    private func report(since last: [Metric: Int]) async -> [Metric: Int] {
        let numbers = await numbers()
        for metric in Set(last.keys).union(numbers.keys) {
            let (label, dimensions, value) = (metric.label, metric.dimensions, numbers[metric] ?? 0)
            switch metric.kind {
            case .counter:
                // Restarted components count from zero.
                let before = last[metric].map { value < $0 ? 0 : $0 } ?? 0
                Counter(label: label, dimensions: dimensions, factory: factory).increment(by: value - before)
            case .gauge: Gauge(label: label, dimensions: dimensions, factory: factory).record(value)
            }
        }
        return numbers
    }

    /// Returns the numbers of the host; components with the same name, such as collaborators of one class, share a
    /// number.
    private func numbers() async -> [Metric: Int] {
        var numbers: [Metric: Int] = [:]
        func add(_ kind: Metric.Kind, _ label: String, _ names: [String: String], _ value: Int) {
            numbers[Metric(kind: kind, label: label, names: names), default: 0] += value
        }
        for component in await host.statistics {
            let names = [
                "backplane.component": component.component, "backplane.plugin": component.plugin,
                "backplane.managers": component.managers.joined(separator: ","),
            ]
            add(.counter, "backplane.call.count", names, component.calls)
            add(.counter, "backplane.call.errors", names, component.errors)
            add(.gauge, "backplane.call.in_flight", names, component.inFlight)
            add(.gauge, "backplane.call.waiting", names, component.waiting)
            add(.counter, "backplane.stream.count", names, component.streams.opened)
            add(.gauge, "backplane.stream.open", names, component.streams.open)
            add(.counter, "backplane.exchange.count", names, component.exchanges.begun)
            add(.counter, "backplane.exchange.errors", names, component.exchanges.failed)
            add(.gauge, "backplane.exchange.in_flight", names, component.exchanges.inFlight)
        }
        for generation in (try? await host.generations()) ?? [] {
            let names = ["backplane.plugin": generation.plugin, "backplane.state": generation.state.rawValue]
            add(.gauge, "backplane.generation.count", names, 1)
        }
        return numbers
    }
}
#endif
