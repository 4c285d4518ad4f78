import Backplane
import BackplaneHost
import Foundation
import Synchronization
import YardstickContracts

/// Takes the binding that calls are using out of its slot, puts another one in, and waits until the last call has left the old one.
enum FlipRow {
    /// - Parameter callers: threads of their own that call without a pause meanwhile.
    static func make(_ name: String, _ plugins: YardstickHost, callers: Int, target: Target) -> Row {
        Row(name: name, unit: .microseconds, target: target, limit: 200) { count in
            measure(try await plugins.host.gate(of: "Yardstick"), plugins, callers, flips: max(count, 16))
        }
    }

    /// Callers are threads, so that the number of threads in Swift's pool does not decide how many call at once.
    private static func measure(_ gate: Gate, _ plugins: YardstickHost, _ callers: Int, flips: Int) -> Double {
        let (begun, ended, stop) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Flag())
        for _ in 0..<callers {
            Thread.detachNewThread {
                begun.signal()
                var number = 0
                while !stop.isSet { number = (try? plugins.yardstick.addNow(number, plugins.call)) ?? 0 }
                ended.signal()
            }
        }
        for _ in 0..<callers { begun.wait() }
        let figures = (0..<flips).map { _ in flip(gate) }
        stop.set()
        for _ in 0..<callers { ended.wait() }
        return Row.Unit.microseconds.figure(nanoseconds: Sample(figures).median)
    }

    private static func flip(_ gate: Gate) -> Double {
        let start = ContinuousClock.now
        let retired = gate.renew()
        guard Drain.wait(for: retired, until: .now + .seconds(10)) else { return .infinity }
        return (ContinuousClock.now - start) / .nanoseconds(1)
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
