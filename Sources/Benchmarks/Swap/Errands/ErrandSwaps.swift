import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import Synchronization
import TurnstileContracts

/// The measurement of swaps of components with work in progress, which is counted to show that none is lost or done
/// twice.
///
/// In each swap there are calls that outlast the drain, exchanges inside calls and one outside any call, a transfer,
/// and a timer, whose clock advances by less than a period after each swap. All exchanges use one account.
enum ErrandSwaps {
    /// The number of callers whose calls make exchanges.
    private static let callers = 2
    /// The duration of a long call in milliseconds, and the drain, which it outlasts.
    private static let length = 20, drain = Duration.milliseconds(5)
    /// The time by which the timers' clock advances after each swap, in seconds; their period is 10 s.
    private static let step = 7

    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let host = try await ErrandHost(
            order.twins(of: "BenchmarkErrands", in: folder), in: folder + "/host", loads: loads)
        return try await host.whileRunning { try await figures(order, $0) }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: ErrandHost) async throws -> [String: Double] {
        let watch = SwapWatch(), waits = Waits()
        var times: [Double] = []
        async let lengthy = callAtLength(swapped, watch)
        let inside = try await withThrowingTaskGroup(of: (answered: [Int], failed: Int).self) { group in
            for caller in 0..<callers {
                group.addTask { await call(from: caller, swapped, watch) }
            }
            do {
                for number in 1...order.count {
                    _ = try await swapped.errands.pass(-number, swapped.host.begin())
                    // Its exchange outside of calls has begun, or counts as lost.
                    let deadline = ContinuousClock.now + .seconds(60)
                    while swapped.server.requests["/outside/\(number)"] == nil, .now < deadline {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    let options = ChangeOptions(drain: .upTo(drain, then: .later), trustsLibraries: true)
                    times.append(try await swapped.swap(options) { waits.add(number) } / .milliseconds(1))
                    try await swapped.clock.advance(by: .seconds(step))
                }
            } catch {
                watch.stop()
                throw error
            }
            watch.stop()
            return try await group.reduce(into: (answered: [Int](), failed: 0)) { sum, part in
                sum.answered += part.answered
                sum.failed += part.failed
            }
        }
        let outside = try await outcomes(order.count, swapped), transferred = try await transfers(order.count, swapped)
        let long = await lengthy
        let counted = try await swapped.lodge.pass(0, swapped.host.begin())
        let struck = try await swapped.timekeeper.pass(0, swapped.host.begin())
        let strikes = struck.count - struck.own, due = order.count * step / 10
        let requests = swapped.server.requests
        func twice(_ prefix: String) -> Int {
            requests.reduce(0) { $0 + ($1.key.hasPrefix(prefix) ? $1.value - 1 : 0) }
        }
        let figures = [
            "long": long.answered, "long miscount": abs(counted.count - 1 - long.answered) + long.mistaken,
            "waited": waits.count, "inside": inside.answered.count,
            "inside lost": inside.failed + inside.answered.count { requests["/inside/\($0)"] == nil },
            "inside twice": twice("/inside/"), "outside lost": outside.lost, "outside twice": twice("/outside/"),
            "outside retired": outside.retired, "transfers": transferred,
            "transfers lost": order.count - transferred, "transfers twice": twice("/transfer/"),
            "sign-ins": max(0, swapped.server.signIns - 1),
            "strikes": strikes, "strikes lost": max(0, due - strikes), "strikes twice": max(0, strikes - due),
        ]
        return figures.mapValues(Double.init).merging(["median": Sample(times).median]) { $1 }
    }

    /// Makes calls that outlast the drain, one after another, and returns the numbers of calls and mistakes.
    private static func callAtLength(_ swapped: ErrandHost, _ watch: SwapWatch) async -> (answered: Int, mistaken: Int)
    {
        var answered = 0, mistaken = 0, handovers = 0
        while !watch.isOver {
            do {
                let ticket = try await swapped.lodge.pass(-length, swapped.host.begin())
                answered += 1
                // Each is counted once, by code that is not older than that of the one before.
                if ticket.own != answered || ticket.handovers < handovers { mistaken += 1 }
                handovers = ticket.handovers
                // A swap that waits for the end of such a call comes now.
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                mistaken += 1
            }
        }
        return (answered, mistaken)
    }

    /// Makes calls, each with its own exchange, and returns the numbers of the answered calls.
    private static func call(
        from caller: Int, _ swapped: ErrandHost, _ watch: SwapWatch
    ) async -> (answered: [Int], failed: Int) {
        var answered: [Int] = [], failed = 0, number = caller
        while !watch.isOver {
            do {
                _ = try await swapped.errands.pass(number, swapped.host.begin())
                answered.append(number)
            } catch {
                failed += 1
            }
            number += callers
        }
        return (answered, failed)
    }

    /// Waits until all exchanges outside calls have ended, and counts those that did not end as expected.
    private static func outcomes(_ count: Int, _ swapped: ErrandHost) async throws -> (lost: Int, retired: Int) {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let text = (try? String(contentsOfFile: swapped.record, encoding: .utf8)) ?? ""
            let lines = Set(text.split(separator: "\n").map(String.init))
            if lines.count >= count || ContinuousClock.now > deadline {
                let expected = (1...count).map { number in
                    "\(number) \(ErrandServer.isEndless(number) ? "\(BackplaneError.Code.callRetired)" : "answered")"
                }
                return (expected.count { !lines.contains($0) }, lines.count { !$0.hasSuffix(" answered") })
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until all transfers have ended, and returns the number of those with a complete file.
    private static func transfers(_ count: Int, _ swapped: ErrandHost) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: swapped.data)) ?? []
            let complete = (1...count).count { number in
                paths.contains { path in
                    path.hasSuffix("/errand-\(number)")
                        && (try? String(contentsOfFile: "\(swapped.data)/\(path)", encoding: .utf8)) == "\(number)"
                }
            }
            if complete == count || ContinuousClock.now > deadline { return complete }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The swaps that waited for long calls.
    private final class Waits: Sendable {
        private let numbers = Mutex<Set<Int>>([])
        var count: Int { numbers.withLock(\.count) }
        func add(_ number: Int) { numbers.withLock { _ = $0.insert(number) } }
    }
}
