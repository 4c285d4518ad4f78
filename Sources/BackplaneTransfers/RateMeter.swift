/// The rate at which bytes are received or sent, smoothed over a few seconds for display.
struct RateMeter: Sendable {
    /// The time over which the rate is smoothed.
    private static let window: Duration = .seconds(3)
    /// The minimum time between two samples.
    private static let step: Duration = .milliseconds(200)
    private var last: (bytes: Int64, time: Duration)?
    /// The number of bytes per second; `nil` until there are enough samples.
    private(set) var rate: Double?

    /// Adds a sample; a sample with an earlier time or fewer bytes than the last one resets the meter.
    mutating func note(_ bytes: Int64, at time: Duration) {
        guard let last, time >= last.time, bytes >= last.bytes else {
            self = RateMeter()
            self.last = (bytes, time)
            return
        }
        let passed = time - last.time
        guard passed >= Self.step else { return }
        let current = Double(bytes - last.bytes) / (passed / .seconds(1))
        let weight = min(1, passed / Self.window)
        rate = rate.map { $0 + (current - $0) * weight } ?? current
        self.last = (bytes, time)
    }

    /// Returns the time for a number of bytes at this rate; returns `nil` if the rate is unknown.
    func time(for bytes: Int64) -> Duration? {
        guard let rate, rate > 0, bytes >= 0 else { return nil }
        return .seconds(min(Double(bytes) / rate, 1e9))  // about thirty years
    }
}
