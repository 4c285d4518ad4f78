extension Row {
    /// What a row's figures count.
    enum Unit: String, Sendable, Hashable {
        case nanoseconds = "ns", microseconds = "µs", milliseconds = "ms"
        /// How many times the throughput of one caller.
        case times = "×"
        case allocations
        /// Millions of bytes.
        case megabytes = "MB"

        /// Nanoseconds in this unit; for the units of time.
        func figure(nanoseconds: Double) -> Double {
            switch self {
            case .nanoseconds, .times, .allocations, .megabytes: nanoseconds
            case .microseconds: nanoseconds / 1_000
            case .milliseconds: nanoseconds / 1_000_000
            }
        }
    }
}
