import Backplane
import BackplaneHost
import BenchmarkContracts
import Glibc

// The cost of streams between a loaded library and the host program, compared with a hand-over in one program.
extension BenchSuite {
    static let streams = BenchSuite(name: StreamRows.suite) { folder in
        let plugins = try await BenchmarkHost(in: folder + "/calls")
        let rows = StreamRows(plugins: plugins)
        let swaps = StreamedSwapRows(.fastest, in: folder).rows + StreamedSwapRows(.encoded, in: folder).rows
        return Opened(
            rows: rows.elements + rows.opening + rows.bounds + swaps,
            remark: "swaps of 7 rounds, each in processes of its own; of what must not happen the highest count of all"
        ) { await plugins.host.stop() }
    }
}

/// The rows of the streams suite.
struct StreamRows {
    static let suite = "streams"
    var plugins: BenchmarkHost

    /// The rows of elements that pass from one task to another.
    var elements: [Row] {
        let plugins = plugins, call = plugins.call
        let number = "hand-over in one program, Int", parcel = "hand-over in one program, struct"
        let coders = "Foundation's coders, arrays of 64 structs"
        return [
            .calls(number) { await StreamLoops.numbersByHand($0) },
            .calls("native stream, Int", baseline: number, target: .ratio(atMost: 1.5)) {
                try await StreamLoops.numbers(plugins.benchmark, call, $0)
            },
            .calls(parcel) { await StreamLoops.parcelsByHand($0) },
            .calls("native stream, struct", baseline: parcel, target: .ratio(atMost: 1.6)) {
                try await StreamLoops.parcels(plugins.benchmark, call, $0)
            },
            HeapRow.make("allocations of a hand-over", in: Self.suite, target: nil) {
                await StreamLoops.numbersByHand($0)
            },
            HeapRow.make("allocations of a native stream", in: Self.suite) {
                try await StreamLoops.numbers(plugins.benchmark, call, $0)
            },
            .calls(coders) { try StreamLoops.code($0) },
            .calls("encoded stream, struct", baseline: coders, target: .ratio(atMost: 1 / 0.85)) {
                try await StreamLoops.parcelsEncoded(plugins.earlier, call, $0)
            },
        ]
    }

    var opening: [Row] {
        let plugins = plugins, call = plugins.call
        let stream = "AsyncStream and task, started and cancelled", encoded = "encoded async struct"
        return [
            .calls(stream) { await StreamLoops.openByHand($0) },
            .calls("native stream, opened and closed", baseline: stream, target: .ratio(atMost: 2)) {
                try await StreamLoops.open(plugins.benchmark, call, $0)
            },
            .calls(encoded) { try await HostCalls.nextEncoded(plugins.earlier, call, $0) },
            .calls("encoded stream, opened and closed", baseline: encoded, target: .ratio(atMost: 3)) {
                try await StreamLoops.openEncoded(plugins.earlier, call, $0)
            },
        ]
    }

    /// The rows for the memory and processor time of many elements and many streams.
    var bounds: [Row] {
        let plugins = plugins, call = plugins.call
        return [
            memory("native") { count, pause in
                for try await _ in plugins.benchmark.numbers(count, call) { pause() }
            },
            memory("encoded") { count, pause in
                for try await _ in plugins.earlier.numbers(count, call) { pause() }
            },
            Row(
                name: "1,000 open streams with an element a second", unit: .percent, target: .median(atMost: 3),
                limit: 1_000, count: 1_000, rounds: 3
            ) { try await Self.load(of: $0, plugins.benchmark, call) },
        ]
    }

    private func memory(
        _ lane: String, _ read: @escaping @Sendable (_ count: Int, _ pause: () -> Void) async throws -> Void
    ) -> Row {
        Row(
            name: "memory of 1,000,000 elements to a slow consumer, \(lane)", unit: .megabytes,
            target: .median(atMost: 1), limit: 1_000_000, count: 1_000_000, rounds: 1
        ) { count in
            try await Self.growth { pause in try await read(count, pause) }
        }
    }

    /// Returns a row for the growth of memory while elements are read, with a pause of 10 µs after each.
    private static func growth(
        _ read: (_ pause: () -> Void) async throws -> Void
    ) async throws -> Double {
        let before = try ProcessMemory.privateDirty()
        var most = before, count = 0
        try await read {
            let end = ContinuousClock.now + .microseconds(10)
            while ContinuousClock.now < end {}
            count += 1
            if count.isMultiple(of: 100_000), let now = try? ProcessMemory.privateDirty() { most = max(most, now) }
        }
        return (most - before) / 1e6
    }

    /// Measures the processor time of streams that yield an element each second, in percent of one processor.
    ///
    /// - Parameter count: The number of streams; fewer are observed for a shorter time.
    private static func load(of count: Int, _ benchmark: Remote<Benchmark>, _ call: Call) async throws -> Double {
        let readers = (0..<count).map { _ in
            Task { for try await _ in benchmark.ticks(call) {} }
        }
        defer { for reader in readers { reader.cancel() } }
        try await Task.sleep(for: .milliseconds(2 * count))
        let start = ContinuousClock.now, before = processorTime()
        try await Task.sleep(for: .milliseconds(5 * count))
        return (processorTime() - before) / (ContinuousClock.now - start) * 100
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
