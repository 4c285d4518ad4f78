import Backplane
import BenchmarkContracts

/// A manager whose class is named after its plugin, so that every copy provides a different class.
final class SwarmManager: Manager {
    typealias Provides = Tally

    static var className: String { SwarmPlugin.id }

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { _, number, _ in number &+ 1 }
    }
}
