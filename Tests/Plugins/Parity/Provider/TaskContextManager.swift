import Backplane
import ParityContracts

final class TaskContextManager: Manager {
    typealias Provides = TaskContext

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.priority) { _, _, _ in Task.currentPriority.rawValue }
    }
}
