/// A state machine that determines from probes whether Swift's thread pool is occupied.
///
/// On Linux there is a pool for every priority, each with as many threads as there are processors: one probe is sent to
/// each watched pool. No more than twice the interval between two samples counts as waiting, so that a suspended or
/// overloaded machine is not mistaken for an occupied pool.
struct PoolWatch {
    enum Action: Hashable {
        /// An action that puts a probe into the pool with this number.
        case send(Int)
        /// An action that reports how long a probe has waited.
        case report(waited: Duration)
        /// A report that the pool is free again.
        case over
    }

    /// The time that a probe may wait.
    let limit: Duration
    /// The time between two samples.
    let interval: Duration
    /// The time that each pool's probe has waited, or `nil` if none was sent.
    private var waits: [Duration?]
    private var isReported = false

    init(limit: Duration, pools: Int) {
        self.limit = limit
        interval = min(.milliseconds(250), limit / 4)
        waits = Array(repeating: nil, count: pools)
    }

    /// Takes a sample and returns the actions to perform.
    ///
    /// - Parameters:
    ///   - elapsed: The time since the last sample.
    ///   - hasBegun: A function that returns whether the probe of the pool with this number has started.
    mutating func look(after elapsed: Duration, hasBegun: (Int) -> Bool) -> [Action] {
        var actions: [Action] = []
        for pool in waits.indices {
            if let wait = waits[pool], !hasBegun(pool) {
                waits[pool] = wait + min(elapsed, interval * 2)
            } else {
                waits[pool] = .zero
                actions.append(.send(pool))
            }
        }
        let longest = waits.compactMap(\.self).max() ?? .zero
        if longest >= limit {
            if !isReported { actions.append(.report(waited: longest)) }
            isReported = true
        } else if isReported {
            isReported = false
            actions.append(.over)
        }
        return actions
    }
}
