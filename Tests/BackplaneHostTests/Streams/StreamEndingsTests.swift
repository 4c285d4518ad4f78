import Dispatch
import Glibc
import Synchronization
import Testing

@testable import BackplaneHost

/// The closing of several streams, some of which take long.
@Suite(.timeLimit(.minutes(2)))
struct StreamEndingsTests {
    private final class Ends: Sendable {
        let all = Mutex<[String]>([])
        func add(_ end: String) { all.withLock { $0.append(end) } }
    }
    private let timer = DeadlineTimer()

    @Test func `what follows the ends waits for those that another thread has taken over`() async {
        let ends = Ends()
        let slow: @Sendable () -> Void = {
            usleep(50_000)  // so long that another thread ends the next one
            ends.add("end")
        }
        StreamEndings(
            Array(repeating: slow, count: 10), then: { ends.add("last") }, within: .seconds(60), timer: timer
        ).run()
        await eventually { ends.all.withLock { $0.contains("last") } }
        #expect(ends.all.withLock { $0 } == Array(repeating: "end", count: 10) + ["last"])
    }

    @Test func `it does not wait for one that is stuck`() async {
        let ends = Ends(), release = DispatchSemaphore(value: 0)
        let stuck: @Sendable () -> Void = {
            release.wait()
            ends.add("stuck")
        }
        StreamEndings([stuck], then: { ends.add("last") }, within: .seconds(1), timer: timer).run()
        await eventually { ends.all.withLock { $0.contains("last") } }
        #expect(ends.all.withLock { $0 } == ["last"])
        release.signal()
        await eventually { ends.all.withLock { $0.last == "stuck" } }
    }
}
