import Backplane
import BenchmarkContracts
import FoundationEssentials

/// The measured loops of the streams suite; each returns the number of elements, or of streams.
enum StreamLoops {
    @inline(never)
    static func numbersByHand(_ count: Int) async -> Int {
        let rendezvous = Rendezvous<Int>()
        let sender = Task {
            for number in 0..<count { await rendezvous.send(number) }
            rendezvous.finish()
        }
        var next = 0
        while let number = await rendezvous.next() { next = number + 1 }
        await sender.value
        return next
    }

    @inline(never)
    static func parcelsByHand(_ count: Int) async -> Int {
        let rendezvous = Rendezvous<Parcel>()
        let sender = Task {
            var parcel = Parcel.first
            for number in 0..<count {
                parcel.id = number
                await rendezvous.send(parcel)
            }
            rendezvous.finish()
        }
        var next = 0
        while let parcel = await rendezvous.next() { next = parcel.id + 1 }
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
    static func parcels(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int
    {
        var next = 0
        for try await parcel in benchmark.parcels(count, call) { next = parcel.id + 1 }
        return next
    }

    @inline(never)
    static func parcelsEncoded(_ benchmark: Remote<EarlierBenchmark>, _ call: Call, _ count: Int)
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

    @inline(never)
    static func openEncoded(_ benchmark: Remote<EarlierBenchmark>, _ call: Call, _ count: Int)
        async throws(BackplaneError) -> Int
    {
        for _ in 0..<count {
            for try await _ in benchmark.numbers(.max, call) { break }
        }
        return count
    }

    /// Creates streams of the standard library, each with a task that is started, yields one element and is cancelled.
    @inline(never)
    static func openByHand(_ count: Int) async -> Int {
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
