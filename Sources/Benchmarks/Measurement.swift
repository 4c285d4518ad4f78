import Glibc

/// One line of the table: a figure, its baseline and its target.
struct Row: Sendable {
    enum Unit: String, Sendable, Encodable {
        case nanoseconds = "ns", microseconds = "µs", milliseconds = "ms"
        case perSecond = "/s"
        /// Millions of bytes.
        case megabytes = "MB"
        /// Units of 1,024 bytes, as the kernel reports them.
        case kilobytes = "KB"
        case bytes

        /// Converts a duration to this unit of time.
        func figure(_ time: Duration) -> Double {
            switch self {
            case .microseconds: time / .microseconds(1)
            case .milliseconds: time / .milliseconds(1)
            case .nanoseconds, .perSecond, .megabytes, .kilobytes, .bytes: time / .nanoseconds(1)
            }
        }
    }
    var name: String
    var unit: Unit
    /// The name of the baseline, which is measured in the same rounds.
    var baseline: String?
    var target: Target?

    init(_ name: String, _ unit: Unit, beside baseline: String? = nil, target: Target? = nil) {
        (self.name, self.unit, self.baseline, self.target) = (name, unit, baseline, target)
    }
}

/// A bound for a figure, or for its ratio to the baseline.
struct Target: Sendable {
    enum Side: String, Sendable {
        case atMost = "≤", atLeast = "≥"
    }
    var bound: Double
    var side = Side.atMost
    var isRatio = false

    static func ratio(atMost bound: Double) -> Target { Target(bound: bound, isRatio: true) }
    static func ratio(atLeast bound: Double) -> Target { Target(bound: bound, side: .atLeast, isRatio: true) }
    static func atMost(_ bound: Double) -> Target { Target(bound: bound) }

    func isMet(by figure: Double) -> Bool { side == .atMost ? figure <= bound : figure >= bound }
}

/// The figures of a row and of its baseline in one round, in the row's unit.
struct Figure: Sendable, Codable {
    var value: Double
    var baseline: Double?

    init(_ value: Double, beside baseline: Double? = nil) { (self.value, self.baseline) = (value, baseline) }
}

/// The figures of several rounds, calls or swaps.
struct Sample: Sendable {
    private let sorted: [Double]

    /// Creates a sample of at least one figure.
    init(_ figures: [Double]) {
        precondition(!figures.isEmpty, "a sample has a figure at least")
        sorted = figures.sorted()
    }

    var median: Double { quantile(0.5) }
    var highest: Double { quantile(1) }
    /// The 99th percentile.
    var p99: Double { quantile(0.99) }
    /// Half the interquartile range, which is not affected by single disturbed rounds.
    var spread: Double { (quantile(0.75) - quantile(0.25)) / 2 }

    /// Returns a quantile by linear interpolation, the default of most statistics programs.
    private func quantile(_ part: Double) -> Double {
        let place = part * Double(sorted.count - 1), below = Int(place), above = min(below + 1, sorted.count - 1)
        return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
    }
}

/// Rows that are measured together: each round returns a figure for every row, in the order of the rows.
struct Measurement: Sendable {
    var rows: [Row]
    /// The number of rounds of a full run.
    ///
    /// Many short rounds are better than a few long ones, because a longer disturbance affects a smaller part of them.
    var rounds = 21
    /// The number of iterations in each round; `nil` for a number that takes about 20 ms.
    var count: Int?
    var measure: @Sendable (_ count: Int) async throws -> [Figure]

    /// Measures in one round.
    func figures(_ count: Int) async throws -> [Figure] {
        let figures = try await measure(count)
        precondition(figures.count == rows.count, "a round has \(figures.count) figures for \(rows.map(\.name))")
        return figures
    }

    /// Returns the number of iterations in a round; determining it also warms up the code.
    func iterations() async throws -> Int {
        if let count { return count }
        let duration = Duration.milliseconds(20)
        var count = 1
        while true {
            let start = ContinuousClock.now
            _ = try await measure(count)
            let time = ContinuousClock.now - start
            if time * 8 >= duration { return max(1, Int(Double(count) * (duration / time))) }
            count *= 4
        }
    }
}

// MARK: Kinds of measurements

extension Measurement {
    /// A function that makes a number of calls, and returns how many had the expected result.
    typealias Calls = @Sendable (_ count: Int) async throws -> Int

    /// The clock by which calls are measured.
    enum Clock: Sendable {
        case wall
        /// The processor time of this process.
        case processor

        private static let origin = ContinuousClock.now

        var now: Duration {
            switch self {
            case .wall: ContinuousClock.now - Self.origin
            case .processor: .microseconds(clock())  // `CLOCKS_PER_SEC` is a million (XSI)
            }
        }
    }

    /// Creates the measurement of a call and of a baseline.
    ///
    /// If the number of calls is not fixed, a round is split into parts of about a millisecond, in which the calls and
    /// the baseline take turns. If the scheduler preempts a thread, it distorts some parts, but not their median.
    static func calls(
        _ name: String, _ unit: Row.Unit = .nanoseconds, by clock: Clock = .wall, rounds: Int = 21, count: Int? = nil,
        target: Target? = nil, beside baseline: String, _ others: @escaping Calls, _ calls: @escaping Calls
    ) -> Measurement {
        let row = Row(name, unit, beside: baseline, target: target)
        let isFixed = count != nil
        return Measurement(rows: [row], rounds: rounds, count: count) { count in
            let parts = isFixed ? 1 : max(1, min(16, count / 16))
            var own: [Double] = [], beside: [Double] = []
            for number in 0..<parts {
                let part = count / parts + (number < count % parts ? 1 : 0)
                own.append(unit.figure(try await time(of: part, calls, name, clock)) / Double(part))
                beside.append(unit.figure(try await time(of: part, others, baseline, clock)) / Double(part))
            }
            return [Figure(Sample(own).median, beside: Sample(beside).median)]
        }
    }

    private static func time(of count: Int, _ calls: Calls, _ name: String, _ clock: Clock) async throws -> Duration {
        let start = clock.now
        let result = try await calls(count)
        let time = clock.now - start
        guard result == count else { throw Miscount(name: name, expected: count, found: result) }
        return time
    }

    /// Creates the measurement of a duration, the median of some repetitions.
    ///
    /// - Parameter once: Performs one repetition, and returns its duration.
    static func durations(
        _ name: String, _ unit: Row.Unit = .milliseconds, rounds: Int = 21, count: Int = 1, target: Target? = nil,
        beside baseline: String? = nil, _ other: (@Sendable () async throws -> Duration)? = nil,
        _ once: @escaping @Sendable () async throws -> Duration
    ) -> Measurement {
        let row = Row(name, unit, beside: baseline, target: target)
        return Measurement(rows: [row], rounds: rounds, count: count) { count in
            var own: [Double] = [], beside: [Double] = []
            for _ in 0..<count {
                own.append(unit.figure(try await once()))
                if let other { beside.append(unit.figure(try await other())) }
            }
            return [Figure(Sample(own).median, beside: beside.isEmpty ? nil : Sample(beside).median)]
        }
    }

    /// Splits a number of calls among callers that make them at the same time.
    static func together(_ callers: Int, _ count: Int, _ calls: @escaping Calls) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask { try await calls(count / callers + (caller < count % callers ? 1 : 0)) }
            }
            return try await group.reduce(0, +)
        }
    }
}

/// An error for a measurement whose result is wrong.
struct Miscount: Error, CustomStringConvertible {
    var name: String, expected: Int, found: Int
    var description: String { "\(name): expected \(expected), found \(found)" }
}

/// The suites, each in its own file.
struct BenchSuite: Sendable {
    /// The measurements of a suite, and its end.
    struct Opened: Sendable {
        var measurements: [Measurement]
        var close: @Sendable () async -> Void

        init(_ measurements: [Measurement], close: @escaping @Sendable () async -> Void = {}) {
            (self.measurements, self.close) = (measurements, close)
        }
    }
    /// The name on the command line.
    var name: String
    /// The function that sets up the suite in a temporary folder.
    var open: @Sendable (_ folder: String) async throws -> Opened

    static let all: [BenchSuite] = [
        .calls, .streams, .swap, .start, .command, .http, .store, .operations, .routes, .screens,
    ]
}
