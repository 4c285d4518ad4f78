import Backplane
package import BackplaneHost

/// The JSON form of a component's statistics in the answer to `statistics`.
package struct ComponentStatisticsForm: ControlForm {
    package let value: ComponentStatistics

    package init(_ value: ComponentStatistics) { self.value = value }

    private enum Key: String, CodingKey {
        case component, role, managers, plugin, generation, calls, errors, inFlight, waiting, streams, timers,
            timerCount, exchanges, latency, lastError
    }

    private enum LatencyKey: String, CodingKey { case calls, median, percentile99, longest }
    private enum FailureKey: String, CodingKey { case time, error }
    private enum StreamKey: String, CodingKey { case open, opened, elements }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var streams = StreamStatistics()
        // A component that has no streams does not list them, nor does a host of an earlier version.
        if container.contains(.streams) {
            let counts = try container.nestedContainer(keyedBy: StreamKey.self, forKey: .streams)
            streams = StreamStatistics(
                open: try counts.decode(Int.self, forKey: .open), opened: try counts.decode(Int.self, forKey: .opened),
                elements: try counts.decode(Int.self, forKey: .elements))
        }
        value = ComponentStatistics(
            component: try container.decode(String.self, forKey: .component),
            role: try container.decode(String.self, forKey: .role),
            managers: try container.decode([String].self, forKey: .managers),
            plugin: try container.decode(String.self, forKey: .plugin),
            generation: try container.decode(Int.self, forKey: .generation),
            calls: try container.decode(Int.self, forKey: .calls),
            errors: try container.decode(Int.self, forKey: .errors),
            inFlight: try container.decode(Int.self, forKey: .inFlight),
            waiting: try container.decode(Int.self, forKey: .waiting),
            streams: streams,
            // A host of an earlier version has no timers.
            timers: try container.decodeIfPresent([TimerStatisticsForm].self, forKey: .timers)?.values ?? [],
            timerCount: try container.decodeIfPresent(Int.self, forKey: .timerCount) ?? 0,
            exchanges: try container.decodeIfPresent(ExchangeStatisticsForm.self, forKey: .exchanges)?.value
                ?? ExchangeStatistics(),
            latency: try Self.latency(in: container), lastFailure: try Self.lastFailure(in: container))
    }

    private static func latency(in container: KeyedDecodingContainer<Key>) throws -> LatencyStatistics? {
        guard container.contains(.latency) else { return nil }
        let times = try container.nestedContainer(keyedBy: LatencyKey.self, forKey: .latency)
        return LatencyStatistics(
            calls: try times.decode(Int.self, forKey: .calls), median: try times.decode(millisecondsForKey: .median),
            percentile99: try times.decode(millisecondsForKey: .percentile99),
            longest: try times.decode(millisecondsForKey: .longest))
    }

    private static func lastFailure(in container: KeyedDecodingContainer<Key>) throws -> FailureStatistics? {
        guard container.contains(.lastError) else { return nil }
        let last = try container.nestedContainer(keyedBy: FailureKey.self, forKey: .lastError)
        return FailureStatistics(
            try last.decode(BackplaneError.self, forKey: .error), at: try last.decode(Double.self, forKey: .time))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.component, forKey: .component)
        try container.encode(value.role, forKey: .role)
        try container.encode(value.managers, forKey: .managers)
        try container.encode(value.plugin, forKey: .plugin)
        try container.encode(value.generation, forKey: .generation)
        try container.encode(value.calls, forKey: .calls)
        try container.encode(value.errors, forKey: .errors)
        try container.encode(value.inFlight, forKey: .inFlight)
        try container.encode(value.waiting, forKey: .waiting)
        if value.streams.opened > 0 {
            var counts = container.nestedContainer(keyedBy: StreamKey.self, forKey: .streams)
            try counts.encode(value.streams.open, forKey: .open)
            try counts.encode(value.streams.opened, forKey: .opened)
            try counts.encode(value.streams.elements, forKey: .elements)
        }
        if value.exchanges.begun > 0 {
            try container.encode(ExchangeStatisticsForm(value.exchanges), forKey: .exchanges)
        }
        if let latency = value.latency {
            var times = container.nestedContainer(keyedBy: LatencyKey.self, forKey: .latency)
            try times.encode(latency.calls, forKey: .calls)
            try times.encode(milliseconds: latency.median, forKey: .median)
            try times.encode(milliseconds: latency.percentile99, forKey: .percentile99)
            try times.encode(milliseconds: latency.longest, forKey: .longest)
        }
        if let failure = value.lastFailure {
            var last = container.nestedContainer(keyedBy: FailureKey.self, forKey: .lastError)
            try last.encode(failure.time, forKey: .time)
            try last.encode(failure.error.shown, forKey: .error)
        }
        guard value.timerCount > 0 else { return }
        try container.encode([TimerStatisticsForm](value.timers), forKey: .timers)
        try container.encode(value.timerCount, forKey: .timerCount)
    }
}
