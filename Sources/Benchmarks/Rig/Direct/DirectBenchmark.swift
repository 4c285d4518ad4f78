public import Backplane
public import BenchmarkContracts

/// The calls of ``Benchmark`` without a boundary, as in a program linked as a whole.
///
/// They go through an existential that is opaque to the optimiser, to methods that are not inlined. That is the
/// inherent cost of protocols, and the minimum cost of replaceable code.
public protocol DirectBenchmark: Sendable {
    /// Returns the number increased by one.
    nonisolated(nonsending) func add(_ number: Int) async throws(BackplaneError) -> Int
    /// Returns the parcel with its number increased by one.
    nonisolated(nonsending) func next(_ parcel: Parcel) async throws(BackplaneError) -> Parcel
    /// Returns the number increased by one, synchronously.
    func addNow(_ number: Int) throws(BackplaneError) -> Int
    /// Returns the parcel with its number increased by one, synchronously.
    func nextNow(_ parcel: Parcel) throws(BackplaneError) -> Parcel
}

final class Adder: DirectBenchmark {
    private let step = 1

    @inline(never)
    nonisolated(nonsending) func add(_ number: Int) async throws(BackplaneError) -> Int { number &+ step }

    @inline(never)
    nonisolated(nonsending) func next(_ parcel: Parcel) async throws(BackplaneError) -> Parcel {
        Parcel(id: parcel.id &+ step, title: parcel.title, tags: parcel.tags)
    }

    @inline(never)
    func addNow(_ number: Int) throws(BackplaneError) -> Int { number &+ step }

    @inline(never)
    func nextNow(_ parcel: Parcel) throws(BackplaneError) -> Parcel {
        Parcel(id: parcel.id &+ step, title: parcel.title, tags: parcel.tags)
    }
}

/// Returns an instance whose class is hidden from the optimiser, so that calls are not devirtualised.
@inline(never) @_optimize(none)
public func makeDirectBenchmark() -> any DirectBenchmark { Adder() }
