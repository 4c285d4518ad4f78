/// The queue of changes, which run one after another in the order of their requests.
final class Turns {
    private struct Turn {
        /// Whether the request changes nothing and therefore does not end a probation.
        var onlyLooks: Bool
        /// The continuation, which receives whether the request has its turn.
        var continuation: UnsafeContinuation<Bool, Never>
    }
    private(set) var isTaken = false
    private var waiting: [Turn] = []

    var waitingCount: Int { waiting.count }

    /// Whether no waiting request would change anything.
    var onlyLookersWait: Bool { waiting.allSatisfy(\.onlyLooks) }

    /// Waits until every change requested earlier has ended.
    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        _ = await withUnsafeContinuation { waiting.append(Turn(onlyLooks: false, continuation: $0)) }
    }

    /// Waits until a request that changes nothing may run: at its turn, or during a probation, which continues.
    ///
    /// - Returns: Whether the request has a turn, which must be ended.
    func takeLook(isOnProbation: Bool) async -> Bool {
        if isOnProbation { return false }
        guard isTaken else {
            isTaken = true
            return true
        }
        return await withUnsafeContinuation { waiting.append(Turn(onlyLooks: true, continuation: $0)) }
    }

    func end() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().continuation.resume(returning: true) }
    }

    /// Resumes requests that change nothing, because they need not wait for the end of the new probation.
    func letLook() {
        let looking = waiting.filter(\.onlyLooks)
        waiting.removeAll(where: \.onlyLooks)
        for turn in looking { turn.continuation.resume(returning: false) }
    }
}
