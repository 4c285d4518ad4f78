import Foundation
import Testing

@testable import BackplaneHost

/// What may never come back, on a thread that is given up then.
@Suite(.timeLimit(.minutes(2)))
struct AbandonableThreadTests {
    private let clock = SystemClock()

    private func map(_ values: [Int], _ limit: Duration, _ body: @escaping @Sendable (Int) -> Void = { _ in })
        -> [String]
    {
        let steps = [
            AbandonableThread.Step<String> { text in
                body(Int(text)!)
                return text
            },
            AbandonableThread.Step { $0 + "!" },
        ]
        return AbandonableThread.map(values.map { "\($0)" }, through: steps, limit: limit, by: clock) { value, _ in
            "\(value) is late"
        } unable: { _ in
            "unable"
        }
    }

    @Test func `what comes back is given in its order`() {
        #expect(map([3, 1, 2], .seconds(60)) == ["3!", "1!", "2!"])
        #expect(map([], .zero) == [])
    }

    @Test func `work that never returns is abandoned, and later work runs`() {
        var outputs: [String] = []
        // On a busy machine a short limit may pass before the other work has run; then it is tried with a later one.
        for limit in [Duration.milliseconds(200), .seconds(2), .seconds(10)] {
            let never = DispatchSemaphore(value: 0)
            outputs = map([1, 2, 3, 4], limit) { value in if value == 2 || value == 4 { never.wait() } }
            // Whatever they still bring is about nothing.
            never.signal()
            never.signal()
            #expect(outputs.count == 4 && outputs[1] == "2 is late!" && outputs[3] == "4 is late!")
            if outputs.first == "1!" && outputs[2] == "3!" { return }
        }
        Issue.record("the other work has not run: \(outputs)")
    }
}
