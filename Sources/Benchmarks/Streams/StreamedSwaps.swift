import Backplane
import BackplaneHost
import BackplaneTools
import BenchmarkContracts
import Foundation
import Synchronization

/// The measurement of swaps during four resumable streams at full speed, alternating with the same swaps during calls
/// by four callers.
///
/// Both kinds of swaps are made in one process, a few at a time, because a swap takes longer the more generations there
/// are. Durations are in milliseconds.
enum StreamedSwaps {
    static let streams = 4

    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let swapped = try await SeriesHost(
            order.deployed(SeriesHost.editions(), in: folder), in: folder + "/host", loads: loads, lanes: order.lanes)
        do {
            let figures = try await figures(order, swapped)
            await swapped.host.stop()
            return figures
        } catch {
            await swapped.host.stop()
            throw error
        }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: SeriesHost) async throws -> [String: Double] {
        var streamed: [Double] = [], called: [Double] = []
        while streamed.count < order.count {
            let count = min(max(1, order.count / 20), order.count - streamed.count)
            streamed += try await underStreams(count, swapped)
            called += try await underCalls(count, swapped)
        }
        let accounts = try swapped.reader.accounts(swapped.call)
        func sum(_ figure: KeyPath<SeriesAccount, Int>) -> Double {
            Double(accounts.reduce(0) { $0 + $1[keyPath: figure] })
        }
        return [
            "read": sum(\.read), "lost": sum(\.lost), "repeated": sum(\.repeated), "disorder": sum(\.disorder),
            "ended": sum(\.ended), "median": Sample(streamed).median, "control median": Sample(called).median,
        ]
    }

    private static func underStreams(_ count: Int, _ swapped: SeriesHost) async throws -> [Double] {
        _ = try await swapped.reader.begin(streams, swapped.call)
        var times: [Double] = []
        for _ in 0..<count {
            try await progress(of: swapped)
            times.append(try await swapped.swap() / .milliseconds(1))
        }
        try await progress(of: swapped)
        _ = try await swapped.reader.end(swapped.call)
        return times
    }

    /// Waits until every stream has yielded further elements or has ended, and counts the latter.
    private static func progress(of swapped: SeriesHost) async throws {
        let before = try swapped.reader.accounts(swapped.call), deadline = ContinuousClock.now + .seconds(60)
        while true {
            let now = try swapped.reader.accounts(swapped.call)
            if zip(before, now).allSatisfy({ $1.read > $0.read + 100 || $1.ended > 0 }) { return }
            guard ContinuousClock.now < deadline else {
                throw BackplaneError(.componentFailed, "a stream has delivered no elements for a minute")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private static func underCalls(_ count: Int, _ swapped: SeriesHost) async throws -> [Double] {
        let isOver = Flag()
        let callers = (0..<streams).map { _ in
            Task {
                await CallerThread.run {
                    do {
                        while !isOver.isSet { _ = try await swapped.series.pass(swapped.call) }
                        return Result<Void, any Error>.success(())
                    } catch {
                        return .failure(error)
                    }
                }
            }
        }
        var times: [Double] = []
        let result: Result<Void, any Error>
        do {
            for _ in 0..<count {
                try await Task.sleep(for: .milliseconds(2))
                times.append(try await swapped.swap() / .milliseconds(1))
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        isOver.set()
        for caller in callers { try await caller.value.get() }
        try result.get()
        return times
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
