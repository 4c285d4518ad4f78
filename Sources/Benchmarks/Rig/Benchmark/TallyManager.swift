import Backplane
import BenchmarkContracts

/// An actor that counts its calls, because the optimiser would skip entering an actor without state.
actor TallyManager: Manager {
    typealias Provides = Tally
    private var calls = 0

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { tally, number, _ in await tally.add(number) }
    }

    private func add(_ number: Int) -> Int {
        calls &+= 1
        return number &+ 1
    }
}
