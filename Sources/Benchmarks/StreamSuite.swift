import Backplane
import BackplaneHost
import BenchmarkContracts
import FoundationEssentials

// The cost of streams between a loaded library and the host program.
//
// Backplane's streams wait until each element is taken, but an `AsyncStream` buffers elements without a limit.
extension BenchSuite {
    static let streams = BenchSuite(name: "streams") { folder in
        let plugins = try await BenchmarkHost(in: folder), call = plugins.call
        let benchmark = plugins.benchmark, earlier = plugins.earlier
        return Opened([
            .calls("native element", beside: "element of an AsyncStream") {
                await StreamLoops.buffered($0)
            } _: {
                try await StreamLoops.numbers(benchmark, call, $0)
            },
            .calls(
                "encoded element, a struct", target: .ratio(atMost: 1 / 0.85),
                beside: "Foundation's coders, arrays of 64 structs"
            ) {
                try StreamLoops.code($0)
            } _: {
                try await StreamLoops.parcels(earlier, call, $0)
            },
            .calls("stream opened and closed", target: .ratio(atMost: 2), beside: "AsyncStream and task") {
                await StreamLoops.openDirectly($0)
            } _: {
                try await StreamLoops.open(benchmark, call, $0)
            },
        ]) { await plugins.host.stop() }
    }
}

/// The measured loops; each returns the number of elements, or of streams.
private enum StreamLoops {
    @inline(never)
    static func buffered(_ count: Int) async -> Int {
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        let sender = Task {
            for number in 0..<count { continuation.yield(number) }
            continuation.finish()
        }
        var next = 0
        for await number in numbers { next = number + 1 }
        await sender.value
        return next
    }

    @inline(never)
    static func numbers(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int
    {
        var next = 0
        for try await number in benchmark.numbers(count, call) { next = number + 1 }
        return next
    }

    @inline(never)
    static func parcels(_ benchmark: Remote<EarlierBenchmark>, _ call: Call, _ count: Int)
        async throws(BackplaneError) -> Int
    {
        var next = 0
        for try await parcel in benchmark.parcels(count, call) { next = parcel.id + 1 }
        return next
    }

    /// Encodes and decodes arrays of 64 parcels; the last one may be shorter.
    @inline(never)
    static func code(_ count: Int) throws -> Int {
        let encoder = JSONEncoder(), decoder = JSONDecoder()
        var next = 0
        while next < count {
            let batch = (next..<min(next + 64, count)).map { number in
                var parcel = Parcel.first
                parcel.id = number
                return parcel
            }
            let received = try decoder.decode([Parcel].self, from: try encoder.encode(batch))
            next = received.last.map { $0.id + 1 } ?? count
        }
        return next
    }

    /// Opens streams, reads one element of each, and closes them.
    @inline(never)
    static func open(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        for _ in 0..<count {
            for try await _ in benchmark.numbers(.max, call) { break }
        }
        return count
    }

    /// Creates streams of the standard library, each with a task that is started, yields one element and is cancelled.
    @inline(never)
    static func openDirectly(_ count: Int) async -> Int {
        for _ in 0..<count {
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let task = Task {
                continuation.yield(0)
                await withTaskCancellationHandler {
                    for await _ in AsyncStream<Never>.makeStream().stream {}
                } onCancel: {
                    continuation.finish()
                }
            }
            for await _ in stream { break }
            task.cancel()
        }
        return count
    }
}
