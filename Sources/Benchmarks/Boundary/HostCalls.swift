import Backplane
import BenchmarkContracts

/// The measured loops, written like the calls of a host program: the result of each call is the input of the next.
enum HostCalls {
    @inline(never)
    static func add(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await benchmark.add(number, call) }
        return number
    }

    /// Makes the calls with the method stored outside the loop.
    @inline(never)
    static func addHeld(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int
    {
        let add = benchmark.add
        var number = 0
        for _ in 0..<count { number = try await add(number, call) }
        return number
    }

    /// Makes the calls without a frame, so that each call creates one.
    @inline(never)
    static func addWithoutFrame(_ benchmark: Remote<Benchmark>, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await benchmark.add(number) }
        return number
    }

    @inline(never)
    static func next(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await benchmark.next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func nextHeld(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int
    {
        let next = benchmark.next
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func nextEncoded(_ benchmark: Remote<EarlierBenchmark>, _ call: Call, _ count: Int)
        async throws(BackplaneError) -> Int
    {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await benchmark.next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func addNow(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try benchmark.addNow(number, call) }
        return number
    }

    @inline(never)
    static func nextNow(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try benchmark.nextNow(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func tally(_ tally: Remote<Tally>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await tally.add(number, call) }
        return number
    }
}
