public import Backplane
public import YardstickContracts

/// The calls of ``Yardstick`` without a boundary: what a program that is one piece would have.
///
/// Measured through an existential that the optimiser cannot see through, with methods that are not inlined: the price that
/// protocols have anyway, and the least that replaceable code could cost.
public protocol DirectYardstick: Sendable {
    nonisolated(nonsending) func add(_ number: Int) async throws(BackplaneError) -> Int
    nonisolated(nonsending) func next(_ parcel: Parcel) async throws(BackplaneError) -> Parcel
    func addNow(_ number: Int) throws(BackplaneError) -> Int
    func nextNow(_ parcel: Parcel) throws(BackplaneError) -> Parcel
}

final class Adder: DirectYardstick {
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

/// Not optimised: nobody shall know which class it is.
@inline(never) @_optimize(none)
public func makeDirectYardstick() -> any DirectYardstick { Adder() }
