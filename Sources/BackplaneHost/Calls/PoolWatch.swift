/// A state machine that detects from probe jobs whether Swift's thread pool is occupied.
///
/// On Linux there is a pool for every priority, each with as many threads as there are processors: one probe is sent
/// to each pool that is watched. Between two samples no more than twice the interval counts as waiting, so that a
/// machine that was asleep or overloaded is not mistaken for an occupied pool.
struct PoolWatch {
    enum Action: Hashable {
        /// A probe to put into the pool with this number.
        case send(Int)
        /// A report that a probe has waited for this long.
        case report(waited: Duration)
        /// A report that the pool is free again.
        case over
    }

    /// The time that a probe may wait.
    let limit: Duration
    /// The time between two samples.
    let interval: Duration
    /// The time that each pool's probe has waited, or `nil` where none was sent.
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
    ///   - hasBegun: A function that returns whether the probe of the pool with this number has begun.
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
