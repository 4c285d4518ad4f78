import Dispatch
import Glibc
import Testing

@testable import BackplaneHost

/// What the host's threads keep.
@Suite(.timeLimit(.minutes(2)))
struct HostThreadTests {
    private final class Work: Sendable {}
    private final class Weak: Sendable {
        weak let work: Work?
        init(_ work: Work) { self.work = work }
    }

    private func launched(behind gate: DispatchSemaphore) -> Weak {
        let work = Work(), weak = Weak(work)
        let begins = HostThread.launch {
            gate.wait()
            withExtendedLifetime(work) {}
        }
        #expect(begins)
        return weak
    }

    @Test func `a thread that waits for more work keeps nothing of its first`() {
        // On a busy machine a thread may return from its work later than that.
        #expect((0..<3).contains { _ in isKept() == false })
    }

    /// Returns whether a thread that waits keeps its work.
    private func isKept() -> Bool {
        let gate = DispatchSemaphore(value: 0)
        // More at once than there are idle threads, so that some of it is the first work of a new thread.
        let weak = (0..<8).map { _ in launched(behind: gate) }
        for _ in weak { gate.signal() }
        // Less time than a thread waits before it ends.
        for _ in 0..<200 where weak.contains(where: { $0.work != nil }) { usleep(20_000) }
        return weak.contains { $0.work != nil }
    }
}
