import Glibc

extension Double {
    /// The current time in seconds since 1970.
    package static var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The number as seconds since 1970, in the local time zone and to the second: `2026-03-01 17:04:09`.
    package var localTime: String {
        var seconds = time_t(self), parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "\(self)" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
