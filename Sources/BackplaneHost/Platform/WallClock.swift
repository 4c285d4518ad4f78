import Glibc

extension Double {
    /// The number as seconds since 1970, in the local time zone and to the second: `2026-03-01 17:04:09`.
    package var localTime: String {
        var seconds = time_t(self), parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "\(self)" }
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
