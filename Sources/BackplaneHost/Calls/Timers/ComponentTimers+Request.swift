import Backplane

extension ComponentTimers {
    /// The parameters of a timer that a component adds.
    struct Request {
        /// The name; empty for a default name, which depends on the order of addition.
        var name: String
        var delay, period, jitter, limit: Int64
    }
}

extension ComponentTimers.Request {
    /// The maximum duration of a timer: ten years.
    private static var longest: Int64 { 10 * 366 * 86_400 * 1_000_000_000 }

    /// Validates the request.
    ///
    /// - Throws: `timer.refused` with the reason.
    func requireValid() throws(BackplaneError) {
        func refuse(_ reason: String) throws(BackplaneError) {
            let name = name.isEmpty ? "a timer without a name" : "timer `\(name.prefix(128))`"
            throw BackplaneError(.timerRefused, "\(name): \(reason)")
        }
        if name.utf8.count > 128 { try refuse("the name has \(name.utf8.count) bytes; at most 128 are allowed") }
        for (value, what) in [(delay, "delay"), (period, "period"), (jitter, "jitter"), (limit, "limit")] {
            guard (0...Self.longest).contains(value) else {
                return try refuse("the \(what) must be from 0 to ten years, but is \(Duration.nanoseconds(value))")
            }
        }
        if period > 0, period < 1_000_000 {
            try refuse("the period must be at least 1 ms, but is \(Duration.nanoseconds(period))")
        }
        if jitter > 0, jitter > max(period, delay) {
            try refuse(
                "the jitter of \(Duration.nanoseconds(jitter)) is longer than the period of \(Duration.nanoseconds(period))"
            )
        }
    }
}
