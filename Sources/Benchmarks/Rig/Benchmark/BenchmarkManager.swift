import Backplane
import BenchmarkContracts

final class BenchmarkManager: Manager {
    typealias Provides = Benchmark
    private let step = 1

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { benchmark, number, _ in benchmark.add(number) }
        table.sync(\.addNow) { benchmark, number, _ in benchmark.add(number) }
        table.async(\.next) { benchmark, parcel, _ in benchmark.next(parcel) }
        table.sync(\.nextNow) { benchmark, parcel, _ in benchmark.next(parcel) }
        table.stream(\.numbers) { _, count, elements, _ in
            for number in 0..<count { try await elements.send(number) }
        }
        table.stream(\.parcels) { _, count, elements, _ in
            var parcel = Parcel.first
            for number in 0..<count {
                parcel.id = number
                try await elements.send(parcel)
            }
        }
        table.stream(\.ticks) { _, _, elements, _ in
            var number = 0
            while true {
                try await elements.send(number)
                number += 1
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func add(_ number: Int) -> Int { number &+ step }

    private func next(_ parcel: Parcel) -> Parcel {
        Parcel(id: parcel.id &+ step, title: parcel.title, tags: parcel.tags)
    }
}
