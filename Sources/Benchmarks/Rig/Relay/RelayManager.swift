import Backplane
import BenchmarkContracts

/// A manager that calls another plugin a given number of times.
final class RelayManager: Manager {
    typealias Provides = Relay
    struct Wires: Wiring {
        let benchmark: Wire<Benchmark>
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { relay, count, call in try await relay.add(count, call) }
        table.async(\.next) { relay, count, call in try await relay.next(count, call) }
        table.async(\.addHeld) { relay, count, call in try await relay.addHeld(count, call) }
        table.async(\.nextHeld) { relay, count, call in try await relay.nextHeld(count, call) }
    }

    private func add(_ count: Int, _ call: Call) async throws -> Int {
        var number = 0
        for _ in 0..<count { number = try await wires.benchmark.add(number, call) }
        return number
    }

    private func next(_ count: Int, _ call: Call) async throws -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await wires.benchmark.next(parcel, call) }
        return parcel.id
    }

    private func addHeld(_ count: Int, _ call: Call) async throws -> Int {
        let add = wires.benchmark.add
        var number = 0
        for _ in 0..<count { number = try await add(number, call) }
        return number
    }

    private func nextHeld(_ count: Int, _ call: Call) async throws -> Int {
        let next = wires.benchmark.next
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await next(parcel, call) }
        return parcel.id
    }
}
