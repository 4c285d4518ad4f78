import Backplane
import YardstickContracts

final class YardstickManager: Manager {
    typealias Provides = Yardstick
    private let step = 1

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { yardstick, number, _ in yardstick.add(number) }
        table.sync(\.addNow) { yardstick, number, _ in yardstick.add(number) }
        table.async(\.next) { yardstick, parcel, _ in yardstick.next(parcel) }
        table.sync(\.nextNow) { yardstick, parcel, _ in yardstick.next(parcel) }
    }

    private func add(_ number: Int) -> Int { number &+ step }

    private func next(_ parcel: Parcel) -> Parcel {
        Parcel(id: parcel.id &+ step, title: parcel.title, tags: parcel.tags)
    }
}
