extension Row {
    /// What a row's figures count.
    enum Unit: String, Sendable, Hashable {
        case nanoseconds = "ns", microseconds = "µs", milliseconds = "ms"
        /// How many times the throughput of one caller.
        case times = "×"
        case allocations
        /// Millions of bytes.
        case megabytes = "MB"
        /// 1,024 bytes, as the kernel counts.
        case kilobytes = "KB"
        case calls, failures
        /// Of one processor.
        case percent = "%"

        /// Nanoseconds in this unit; for the units of time.
        func figure(nanoseconds: Double) -> Double {
            switch self {
            case .nanoseconds, .times, .allocations, .megabytes, .kilobytes, .calls, .failures, .percent: nanoseconds
            case .microseconds: nanoseconds / 1_000
            case .milliseconds: nanoseconds / 1_000_000
            }
        }
    }
}
