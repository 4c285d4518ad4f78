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
        var outputs: [String] = []
        // On a busy machine a short limit may pass before the other work has run; then it is tried with a later one.
        for limit in [Duration.milliseconds(200), .seconds(2), .seconds(10)] {
            let never = DispatchSemaphore(value: 0)
            outputs = AbandonableThread.map([1, 2, 3, 4], limit: limit) { _, value -> String in
                if value == 2 || value == 4 { never.wait() }
                return "\(value)"
            } late: { index, value in
                "\(value) at \(index) is late"
            } unable: { _, _ in
                "unable"
            }
            // Whatever they still bring is about nothing.
            never.signal()
            never.signal()
            #expect(outputs.count == 4 && outputs[1] == "2 at 1 is late" && outputs[3] == "4 at 3 is late")
            if outputs.first == "1" && outputs[2] == "3" { return }
        }
        Issue.record("the other work has not run: \(outputs)")
    }
}
