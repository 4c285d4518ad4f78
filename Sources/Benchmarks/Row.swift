/// A single measurement.
struct Row: Sendable {
    /// The way in which the figures of all rounds are summarised.
    enum Summary: Sendable, Hashable {
        case median
        /// The highest figure, for events that must not occur in any round.
        case highest
    }
    /// The instructions of a row beyond those of another one, with a bound for them.
    struct Overhead: Sendable {
        var row: String
        var baseline: String
        var bound: Double
    }
    /// The name, which is unique in the suite.
    var name: String
    var unit: Unit
    /// The row of the same suite to which the ratio refers.
    var baseline: String?
    var target: Target?
    var summary = Summary.median
    /// The maximum number of iterations in a round, for measurements that take a long time or cannot be repeated.
    var limit = Int.max
    /// The number of iterations in each round of a full run, if it does not depend on the duration.
    var count: Int?
    /// The maximum number of rounds, for rounds that take a long time.
    var rounds = Int.max
    /// The figure of the row where instructions are counted, if it is derived from those of other rows.
    var overhead: Overhead?
    /// The function that performs a number of iterations and returns the figure of the round.
    var measure: @Sendable (Int) async throws -> Double
}

extension Row {
    /// Creates a row for the cost of one call.
    ///
    /// - Parameter calls: A function that makes the given number of calls, each of which adds one to the result of the
    ///   previous one, beginning with 0. It returns the last result, so that no call can be optimised away.
    static func calls(
        _ name: String, unit: Unit = .nanoseconds, baseline: String? = nil, target: Target? = nil,
        _ calls: @escaping @Sendable (Int) async throws -> Int
    ) -> Row {
        Row(name: name, unit: unit, baseline: baseline, target: target) { count in
            var costs: [Double] = []
            for part in parts(of: count) {
                let start = ContinuousClock.now
                let result = try await calls(part)
                let time = ContinuousClock.now - start
                guard result == part else { throw Miscount(row: name, calls: part, result: result) }
                costs.append(time / .nanoseconds(1) / Double(part))
            }
            return unit.figure(nanoseconds: Sample(costs).median)
        }
    }

    /// Splits the calls of a round into up to 16 parts of at least 16 calls, whose median counts.
    ///
    /// In a round of the full effort, a part takes about a millisecond. If the scheduler preempts the thread for some
    /// milliseconds, that distorts some parts but not the round.
    static func parts(of count: Int) -> [Int] {
        let parts = max(1, min(16, count / 16))
        return (0..<parts).map { count / parts + ($0 < count % parts ? 1 : 0) }
    }

    /// Creates a row for the throughput of several concurrent callers, as a multiple of that of one caller.
    ///
    /// - Parameter calls: The calls of one caller, as for a row of calls.
    static func scaling(
        _ name: String, callers: Int, baseline: String? = nil, target: Target? = nil,
        _ calls: @escaping @Sendable (Int) async throws -> Int
    ) -> Row {
        Row(name: name, unit: .times, baseline: baseline, target: target) { count in
            let start = ContinuousClock.now
            var result = try await calls(count)
            let alone = ContinuousClock.now - start
            guard result == count else { throw Miscount(row: name, calls: count, result: result) }

            let startTogether = ContinuousClock.now
            result = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<callers { group.addTask { try await calls(count) } }
                return try await group.reduce(0, +)
            }
            let together = ContinuousClock.now - startTogether
            guard result == callers * count else { throw Miscount(row: name, calls: callers * count, result: result) }
            return Double(callers) * (alone / together)
        }
    }

    /// An error for calls that returned a wrong result.
    struct Miscount: Error, CustomStringConvertible {
        var row: String, calls: Int, result: Int
        var description: String { "\(row): \(calls) calls counted to \(result)" }
    }
}
