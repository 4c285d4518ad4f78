import Backplane
import BackplaneHost

extension Row {
    /// Creates a row for a duration: the median of all durations of a round.
    ///
    /// - Parameter once: Performs one iteration and returns its duration.
    static func duration(
        _ name: String, unit: Unit = .milliseconds, baseline: String? = nil, target: Target? = nil, limit: Int = .max,
        _ once: @escaping @Sendable () async throws -> Duration
    ) -> Row {
        Row(name: name, unit: unit, baseline: baseline, target: target, limit: limit) { count in
            var times: [Double] = []
            for _ in 0..<count { times.append(try await once() / .nanoseconds(1)) }
            return unit.figure(nanoseconds: Sample(times).median)
        }
    }

    /// Creates a row for the duration of a whole run of this program, from its start to its end.
    static func process(
        _ name: String, baseline: String? = nil, target: Target? = nil,
        _ arguments: @escaping @Sendable () async throws -> [String]
    ) -> Row {
        duration(name, baseline: baseline, target: target, limit: 1) {
            let arguments = try await arguments(), start = ContinuousClock.now
            return try await ProgramRun.with(arguments) { run in
                try run.requireSuccess()
                return ContinuousClock.now - start
            }
        }
    }

    /// Returns the duration of a check, and throws if the check finds a problem.
    static func timed(_ body: () -> [Problem]) throws -> Duration {
        let start = ContinuousClock.now
        let problems = body()
        let time = ContinuousClock.now - start
        if let problem = problems.first { throw problem.error }
        return time
    }
}
