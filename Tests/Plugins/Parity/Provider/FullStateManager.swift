import Backplane
import ParityContracts
import Synchronization

final class HoardManager: Manager, StatefulComponent {
    typealias Provides = Hoarding
    private let hoard = Mutex(Hoard())

    init(_ context: Context) {}

    func exportState() -> Hoard { hoard.withLock(\.self) }
    func importState(_ state: Hoard) { hoard.withLock { $0 = state } }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { manager, hoard, _ in
            manager.hoard.withLock { $0 = hoard }
            return Nothing()
        }
        table.async(\.kept) { manager, _, _ in manager.hoard.withLock(\.self) }
        table.async(\.add) { manager, volume, _ in
            manager.hoard.withLock { hoard in
                hoard.byName[volume.title] = volume
                return hoard.byName.count
            }
        }
    }
}
