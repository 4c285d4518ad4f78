import Backplane
import Synchronization
import Testing

@testable import BackplaneHost

/// A timer whose thread is woken only for what concerns it.
@Suite(.timeLimit(.minutes(1)))
struct DeadlineTimerTests {
    private let farAway = Duration.seconds(3_600)

    /// The numbers of the actions that have run, in order.
    private final class Runs: Sendable {
        private let numbers = Mutex<[UInt64]>([])
        var all: [UInt64] { numbers.withLock { $0 } }
        func add(_ number: UInt64) { numbers.withLock { $0.append(number) } }
    }

    private func schedule(_ id: UInt64, after delay: Duration, on timer: DeadlineTimer, _ runs: Runs) {
        timer.schedule(id, at: .now + delay) { runs.add(id) }
    }

    @Test func `a deadline before the one that the thread waits for is met`() async {
        let timer = DeadlineTimer(), runs = Runs()
        defer {
            timer.cancel(1)
            timer.retire()
        }
        schedule(1, after: farAway, on: timer, runs)
        schedule(2, after: .milliseconds(20), on: timer, runs)
        schedule(3, after: farAway * 2, on: timer, runs)
        await eventually { runs.all == [2] }
        schedule(4, after: .milliseconds(1), on: timer, runs)
        await eventually { runs.all == [2, 4] }
        timer.cancel(3)
    }

    @Test func `the thread of a retired timer ends with the last cancellation`() async {
        weak var ended: DeadlineTimer?
        do {
            let timer = DeadlineTimer(), runs = Runs()
            ended = timer
            schedule(1, after: farAway, on: timer, runs)
            schedule(2, after: .milliseconds(5), on: timer, runs)
            await eventually { runs.all == [2] }
            // The thread waits again after either pause, or else ends without being woken.
            try? await Task.sleep(for: .milliseconds(20))
            timer.retire()
            try? await Task.sleep(for: .milliseconds(20))
            timer.cancel(1)
        }
        await eventually { ended == nil }
    }
}
