/// The pace of progress reports for readers that keep every line.
struct ProgressPace: Sendable {
    /// The minimum time between two reports, in seconds.
    let interval: Double
    private var last: Double?

    init(interval: Double) { self.interval = interval }

    /// Starts an activity, whose first report is not due until the interval has passed.
    mutating func begin(at time: Double) { last = time }

    /// Returns whether a report is due, and counts it if so.
    mutating func isDue(at time: Double) -> Bool {
        if let last, time - last < interval { return false }
        last = time
        return true
    }
}
