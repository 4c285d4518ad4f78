import BackplaneBoundary
import Glibc
import Synchronization

/// The creations of instances that were abandoned at their time limit, and whose code has not returned.
///
/// Such code ends only with the process.
final class UnfinishedCreations: Sendable {
    struct Entry: Sendable {
        /// The number of the plugin's pending answer.
        let id: UInt64
        /// The component's name.
        let component: String
        let plugin: LoadedPlugin
        /// The time at which the creation started, in seconds since 1970.
        let began: Double
    }
    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) {
        entries.withLock { $0.append(entry) }
    }

    /// The creations that have not returned yet.
    var all: [Entry] {
        entries.withLock { entries in
            entries.removeAll { !Callbacks.isOwed($0.id) }
            return entries
        }
    }
}
