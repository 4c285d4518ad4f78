import Backplane
import BackplaneHost
import BenchmarkContracts
import Foundation
import Synchronization

/// The row that replaces the binding in a slot under load, and waits until the last call through the old one has ended.
enum FlipRow {
    /// Creates a row with 200 flips in each round.
    ///
    /// - Parameters:
    ///   - callers: The number of threads that make calls without a pause at the same time.
    ///   - pause: The pause between two flips. Without a pause, the flipping thread keeps its processor. After a pause,
    ///     about every second caller has just been preempted within a call, and the drain lasts until the scheduler
    ///     resumes it.
    static func make(
        _ name: String, _ plugins: BenchmarkHost, callers: Int, pause: Duration = .zero, target: Target? = nil
    ) -> Row {
        Row(name: name, unit: .microseconds, target: target, limit: 1) { _ in
            measure(try await plugins.host.gate(of: "Benchmark"), plugins, callers, pause)
        }
    }

    /// Measures the flips with callers on threads, so that the size of Swift's pool does not limit their number.
    private static func measure(_ gate: Gate, _ plugins: BenchmarkHost, _ callers: Int, _ pause: Duration) -> Double {
        let (begun, ended, stop) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Flag())
        for _ in 0..<callers {
            Thread.detachNewThread {
                begun.signal()
                var number = 0
                while !stop.isSet { number = (try? plugins.benchmark.addNow(number, plugins.call)) ?? 0 }
                ended.signal()
            }
        }
        for _ in 0..<callers { begun.wait() }
        let figures = (0..<200).map { _ in
            if pause > .zero { usleep(UInt32(pause / .microseconds(1))) }
            return flip(gate)
        }
        stop.set()
        for _ in 0..<callers { ended.wait() }
        return Row.Unit.microseconds.figure(nanoseconds: Sample(figures).median)
    }

    private static func flip(_ gate: Gate) -> Double {
        let start = ContinuousClock.now
        var twins: [Binding: Binding] = [:]
        let retired = gate.open { _, binding in
            let twin = twins[binding] ?? binding.twin()
            twins[binding] = twin
            return twin
        }
        guard Drain.wait(for: retired, until: .now + .seconds(10)) else { return .infinity }
        return (ContinuousClock.now - start) / .nanoseconds(1)
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
