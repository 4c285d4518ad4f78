/// One thing that is measured.
struct Row: Sendable {
    /// What the figures of all rounds come to.
    enum Summary: Sendable, Hashable {
        case median
        /// The highest, for what must not happen in any round.
        case highest
    }
    /// Unique in its suite.
    var name: String
    var unit: Unit
    /// The row of the same suite that its ratio is to.
    var baseline: String?
    var target: Target?
    var summary = Summary.median
    /// As often as it makes sense in one round: for what takes long, or cannot be done twice in a row.
    var limit = Int.max
    /// How many times in each round of a full run, where time does not decide.
    var count: Int?
    /// At most so many rounds, where one takes long.
    var rounds = Int.max
    /// Does it so many times and gives the figure of that round.
    var measure: @Sendable (Int) async throws -> Double
}

extension Row {
    /// What one call costs.
    ///
    /// - Parameter calls: makes so many calls, each of which adds one to what the one before gave, from 0 on, and gives the
    ///   result, so that nothing can be left out.
    static func calls(
        _ name: String, unit: Unit = .nanoseconds, baseline: String? = nil, target: Target? = nil, _ calls: @escaping @Sendable (Int) async throws -> Int
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

    /// The calls of one round in up to 16 parts of about a millisecond, whose median counts: whoever takes the processor away
    /// meanwhile, for some milliseconds as schedulers do, spoils some parts and not the round. Never fewer than 16 calls each.
    static func parts(of count: Int) -> [Int] {
        let parts = max(1, min(16, count / 16))
        return (0..<parts).map { count / parts + ($0 < count % parts ? 1 : 0) }
    }

    /// How many times the throughput of one caller several have together, all calling at once.
    ///
    /// - Parameter calls: as for a row of calls; it is run by each caller.
    static func scaling(
        _ name: String, callers: Int, baseline: String? = nil, target: Target? = nil, _ calls: @escaping @Sendable (Int) async throws -> Int
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

    /// What was called did not do what it was asked for.
    struct Miscount: Error, CustomStringConvertible {
        var row: String, calls: Int, result: Int
        var description: String { "\(row): \(calls) calls counted to \(result)" }
    }
}
