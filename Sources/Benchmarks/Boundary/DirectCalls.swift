import Backplane
import BenchmarkContracts
import BenchmarkDirect
import FoundationEssentials

/// The loops of ``HostCalls`` without a boundary, as baselines.
enum DirectCalls {
    @inline(never)
    static func add(_ benchmark: any DirectBenchmark, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await benchmark.add(number) }
        return number
    }

    @inline(never)
    static func next(_ benchmark: any DirectBenchmark, _ count: Int) async throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await benchmark.next(parcel) }
        return parcel.id
    }

    @inline(never)
    static func addNow(_ benchmark: any DirectBenchmark, _ count: Int) throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try benchmark.addNow(number) }
        return number
    }

    @inline(never)
    static func nextNow(_ benchmark: any DirectBenchmark, _ count: Int) throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try benchmark.nextNow(parcel) }
        return parcel.id
    }

    @inline(never)
    static func tally(_ tally: DirectTally, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await tally.add(number) }
        return number
    }

    /// Encodes and decodes input and output like an encoded call, with coders that are created once.
    @inline(never)
    static func code(_ count: Int) throws -> Int {
        let encoder = JSONEncoder(), decoder = JSONDecoder()
        var parcel = Parcel.first
        for _ in 0..<count {
            var received = try decoder.decode(Parcel.self, from: try encoder.encode(parcel))
            received.id += 1
            parcel = try decoder.decode(Parcel.self, from: try encoder.encode(received))
        }
        return parcel.id
    }
}
