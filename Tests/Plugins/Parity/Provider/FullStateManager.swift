import Backplane
import ParityContracts
import Synchronization

final class FullStateManager: Manager, StatefulComponent {
    typealias Provides = FullStateKeeping
    private let full = Mutex(FullState())

    init(_ context: Context) {}

    func exportState() -> FullState { full.withLock(\.self) }
    func importState(_ state: FullState) { full.withLock { $0 = state } }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { manager, full, _ in
            manager.full.withLock { $0 = full }
            return Nothing()
        }
        table.async(\.kept) { manager, _, _ in manager.full.withLock(\.self) }
        table.async(\.add) { manager, volume, _ in
            manager.full.withLock { full in
                full.byName[volume.title] = volume
                return full.byName.count
            }
        }
    }
}
