import Dispatch
import Synchronization

/// A latch that blocks server threads until a case opens it.
package final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    /// Waits until the latch is open; call this on a thread of the server.
    package func pass() {
        semaphore.wait()
        semaphore.signal()
    }

    package func open() { semaphore.signal() }
}

/// A counter that several threads increment.
package final class Counted: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ more: Int) { count.wrappingAdd(more, ordering: .relaxed) }

    /// Waits until the count has remained unchanged for a while.
    func settle() async throws {
        var last = -1, quiet = 0
        while quiet < 25 {
            quiet = value == last ? quiet + 1 : 0
            last = value
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
