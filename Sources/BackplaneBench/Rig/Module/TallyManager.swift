import Backplane
import YardstickContracts

/// Counts its calls: an actor with nothing to protect would not be entered at all, once it is optimised.
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
