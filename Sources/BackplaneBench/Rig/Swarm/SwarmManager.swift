import Backplane
import YardstickContracts

/// Its class is called as its plugin, so that in every copy it is another one.
final class SwarmManager: Manager {
    typealias Provides = Tally

    static var className: String { SwarmPlugin.id }

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { _, number, _ in number &+ 1 }
    }
}
