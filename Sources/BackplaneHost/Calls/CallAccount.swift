import Backplane

/// The record of a component's completed encoded calls: their times, and the last error.
struct CallAccount {
    /// An error as received by the caller, with its time.
    struct LastFailure {
        private let answer: EncodedAnswer
        let time: Double

        /// The maximum size of a stored error, in bytes.
        private static let limit = 1 << 16

        /// Creates a record; for a huge error, it contains only the size.
        init(_ answer: EncodedAnswer, at time: Double) {
            self.time = time
            self.answer =
                answer.payload.count <= Self.limit
                ? answer
                : EncodedAnswer(BackplaneError(.componentFailed, "an error of \(answer.payload.count) bytes"))
        }

        var statistics: FailureStatistics { FailureStatistics(answer.error, at: time) }
    }
    var latencies = CallLatencies()
    private(set) var lastFailure: LastFailure?

    mutating func note(failure answer: EncodedAnswer) {
        lastFailure = LastFailure(answer, at: .secondsSince1970)
    }
}

/// A histogram of call times, in classes whose width is at most a quarter of their lower bound.
struct CallLatencies {
    /// The number of calls in each class; empty until there is a call.
    private var counts: [UInt64] = []
    private var total: UInt64 = 0
    private var longest: UInt64 = 0

    mutating func add(_ time: Duration) {
        let nanoseconds = UInt64(clamping: time.nanoseconds)
        if counts.isEmpty { counts = Array(repeating: 0, count: Self.place(of: .max) + 1) }
        counts[Self.place(of: nanoseconds)] += 1
        total += 1
        longest = max(longest, nanoseconds)
    }

    /// The distribution of the times; `nil` if there are none.
    var statistics: LatencyStatistics? {
        guard total > 0 else { return nil }
        return LatencyStatistics(
            calls: Int(clamping: total), median: time(at: 0.5), percentile99: time(at: 0.99),
            longest: .nanoseconds(Int64(clamping: longest)))
    }

    /// Returns the time that a share of the calls did not exceed, rounded up to the end of its class.
    private func time(at share: Double) -> Duration {
        let wanted = UInt64((Double(total) * share).rounded(.up))
        var sum: UInt64 = 0
        let place = counts.firstIndex { count in
            sum += count
            return sum >= wanted
        }
        return .nanoseconds(Int64(clamping: min(longest, Self.end(of: place ?? 0))))
    }

    /// Returns the class of a time: times below 4 have one class each, and every later power of two has four.
    static func place(of nanoseconds: UInt64) -> Int {
        guard nanoseconds >= 4 else { return Int(nanoseconds) }
        let exponent = 63 - nanoseconds.leadingZeroBitCount
        return (exponent - 1) * 4 + Int((nanoseconds >> UInt64(exponent - 2)) & 3)
    }

    /// Returns the longest time of a class.
    static func end(of place: Int) -> UInt64 {
        guard place >= 4 else { return UInt64(place) }
        let exponent = place / 4 + 1
        let (next, overflows) = UInt64(5 + place % 4).multipliedReportingOverflow(by: 1 << UInt64(exponent - 2))
        return overflows ? .max : next - 1
    }
}
