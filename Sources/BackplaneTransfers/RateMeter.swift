/// The rate at which bytes come in or go out, as people want to read it: smoothed over a few seconds.
struct RateMeter: Sendable {
    /// The time over which the rate is smoothed.
    private static let window: Duration = .seconds(3)
    /// The shortest time between two points that the rate is computed from.
    private static let step: Duration = .milliseconds(200)
    private var last: (bytes: Int64, time: Duration)?
    /// The bytes in a second; `nil` until there were enough to tell.
    private(set) var rate: Double?

    /// Notes how many bytes there are at a time; a time before the last one, or fewer bytes, begin anew.
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

    /// Returns the time for a number of bytes at this rate; `nil` if it cannot be told.
    func time(for bytes: Int64) -> Duration? {
        guard let rate, rate > 0, bytes >= 0 else { return nil }
        return .seconds(min(Double(bytes) / rate, 1e9))  // about thirty years
    }
}
