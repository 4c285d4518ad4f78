/// Decides from jobs that were put into Swift's thread pool whether it is occupied.
///
/// On Linux there is a pool for every priority, each with as many threads as there are processors: one job for each of
/// those that are looked at. Only a limit that passed while whoever looks was running himself counts, so that a machine
/// that is asleep or overloaded is not taken for an occupied pool.
struct PoolWatch {
    enum Action: Hashable {
        /// Put a job into the pool with this number.
        case send(Int)
        /// A job has waited for so long: say so.
        case report(waited: Duration)
        /// What was reported is over.
        case over
    }

    /// How long a job may wait.
    let limit: Duration
    /// How often this is asked.
    let interval: Duration
    /// Of each pool, how long its job has waited; `nil`: none is there.
    private var waits: [Duration?]
    private var isReported = false

    init(limit: Duration, pools: Int) {
        self.limit = limit
        interval = min(.milliseconds(250), limit / 4)
        waits = Array(repeating: nil, count: pools)
    }

    /// One look.
    ///
    /// - Parameters:
    ///   - elapsed: since the last look.
    ///   - hasBegun: of a pool's job.
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
