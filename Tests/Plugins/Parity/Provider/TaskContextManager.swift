import Backplane
import Glibc
import ParityContracts
import Synchronization

final class TaskContextManager: Manager {
    typealias Provides = TaskContext
    struct Wires: Wiring {
        let next: Wire<TaskContext>?
    }
    @TaskLocal private static var local = 0
    private let next: Wire<TaskContext>?
    private let held = Atomic(0)
    private let releases = Atomic(0)

    init(_ context: Context) {
        next = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.isCancelled) { _, _, _ in Task.isCancelled }
        table.async(\.priority) { _, _, _ in Task.currentPriority.rawValue }
        table.async(\.threads) { _, _, _ in
            // A task that yields may be resumed before it has given its thread up; some time it is not.
            let first = pthread_self()
            for _ in 0..<1_000 where pthread_self() == first { await Task.yield() }
            return [UInt(first), UInt(pthread_self())]
        }
        table.async(\.hold) { manager, _, _ in try await manager.hold() }
        table.sync(\.held) { manager, _, _ in manager.held.load(ordering: .sequentiallyConsistent) }
        table.sync(\.letGo) { manager, _, _ in
            manager.releases.add(1, ordering: .sequentiallyConsistent)
            return Nothing()
        }
        table.sync(\.outlast) { _, seconds, call in
            while let left = call.timeLeft, left > .seconds(-seconds) {}
            return "outlasted"
        }
        table.async(\.taskName) { _, _, _ in Task.name }
        table.async(\.local) { manager, _, call in
            guard let next = manager.next else { return local }
            return try await $local.withValue(7) { try await next.local(call) }
        }
    }

    private func hold() async throws -> UInt8 {
        let before = releases.load(ordering: .sequentiallyConsistent)
        held.add(1, ordering: .sequentiallyConsistent)
        defer { held.subtract(1, ordering: .sequentiallyConsistent) }
        while releases.load(ordering: .sequentiallyConsistent) == before {
            try Task.checkCancellation()
            await Task.yield()
        }
        return Task.currentPriority.rawValue
    }
}
