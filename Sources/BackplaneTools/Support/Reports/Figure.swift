import Glibc

/// The formatting of measured values.
package enum Figure {
    package static func milliseconds(_ value: Double) -> String {
        value < 10
            ? "\(rounded(value, 100)) ms"
            : value < 10_000 ? "\(rounded(value, 1)) ms" : "\(rounded(value / 1_000, 10)) s"
    }

    package static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1_000: counted(count, "byte")
        case ..<1_000_000: "\(rounded(Double(count) / 1e3, 10)) KB"
        case ..<1_000_000_000: "\(rounded(Double(count) / 1e6, 10)) MB"
        default: "\(rounded(Double(count) / 1e9, 10)) GB"
        }
    }

    /// Returns the text of a time in seconds since 1970, in this machine's time zone.
    package static func time(_ seconds: Double) -> String {
        var moment = time_t(seconds), parts = tm()
        localtime_r(&moment, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// Returns a number rounded to 1/`parts`, without a decimal point if it is whole.
    private static func rounded(_ value: Double, _ parts: Double) -> String {
        let value = (value * parts).rounded() / parts
        return Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
