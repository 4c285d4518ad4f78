extension Row {
    /// The unit of a row's figures.
    enum Unit: String, Sendable, Hashable {
        case nanoseconds = "ns", microseconds = "µs", milliseconds = "ms"
        /// A multiple of the throughput of one caller.
        case times = "×"
        case perSecond = "/s"
        case allocations
        /// Millions of bytes.
        case megabytes = "MB"
        case bytes
        /// Units of 1,024 bytes, as the kernel reports them.
        case kilobytes = "KB"
        case calls, failures, elements, instructions
        /// Percent of one processor.
        case percent = "%"

        /// A Boolean value that indicates whether this is a unit of time.
        var isTime: Bool { [.nanoseconds, .microseconds, .milliseconds].contains(self) }

        /// Converts nanoseconds to this unit of time; has no effect in other units.
        func figure(nanoseconds: Double) -> Double {
            switch self {
            case .nanoseconds, .times, .allocations, .megabytes, .kilobytes, .bytes, .calls, .perSecond, .failures,
                .elements,
                .instructions, .percent:
                nanoseconds
            case .microseconds: nanoseconds / 1_000
            case .milliseconds: nanoseconds / 1_000_000
            }
        }
    }
}
