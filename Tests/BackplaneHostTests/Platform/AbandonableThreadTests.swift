import Foundation
import Testing

@testable import BackplaneHost

/// What may never come back, on a thread that is given up then.
@Suite(.timeLimit(.minutes(2)))
struct AbandonableThreadTests {
    @Test func `what comes back is given in its order`() {
        let outputs = AbandonableThread.map([3, 1, 2], limit: .seconds(60)) { index, value in
            "\(index): \(value)"
        } late: { _, _ in
            "late"
        } unable: { _, _ in
            "unable"
        }
        #expect(outputs == ["0: 3", "1: 1", "2: 2"])
    }

    @Test func `nothing in, nothing out`() {
        #expect(
            AbandonableThread.map([Int](), limit: .zero) { _, value in
                value
            } late: { _, _ in
                0
            } unable: { _, _ in
                0
            } == [])
    }

    @Test func `work that never returns is abandoned, and later work runs`() {
        let never = DispatchSemaphore(value: 0)
        let outputs = AbandonableThread.map([1, 2, 3, 4], limit: .milliseconds(200)) { _, value -> String in
            if value == 2 || value == 4 { never.wait() }
            return "\(value)"
        } late: { index, value in
            "\(value) at \(index) is late"
        } unable: { _, _ in
            "unable"
        }
        #expect(outputs == ["1", "2 at 1 is late", "3", "4 at 3 is late"])
        // Whatever they still bring is about nothing.
        never.signal()
        never.signal()
    }
}
