import Backplane
import ParityContracts

final class TaskContextRelay: Manager {
    typealias Provides = TaskContext
    struct Wires: Wiring {
        let next: Wire<TaskContext>
    }
    private let next: Wire<TaskContext>

    init(_ context: Context) {
        next = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.isCancelled) { relay, _, call in try await relay.next.isCancelled(call) }
        table.async(\.priority) { relay, _, call in try await relay.next.priority(call) }
        table.async(\.threads) { relay, _, call in try await relay.next.threads(call) }
        table.async(\.hold) { relay, _, call in try await relay.next.hold(call) }
        table.sync(\.held) { relay, _, call in try relay.next.held(call) }
        table.sync(\.letGo) { relay, _, call in try relay.next.letGo(call) }
        table.sync(\.outlast) { relay, seconds, call in try relay.next.outlast(seconds, call) }
        table.async(\.taskName) { relay, _, call in try await relay.next.taskName(call) }
        table.async(\.local) { relay, _, call in try await relay.next.local(call) }
    }
}
