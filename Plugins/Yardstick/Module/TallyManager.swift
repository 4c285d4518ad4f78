import Backplane
import YardstickContracts

actor TallyManager: Manager {
    typealias Provides = Tally
    private let step = 1

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { tally, number, _ in await tally.add(number) }
    }

    private func add(_ number: Int) -> Int { number &+ step }
}
