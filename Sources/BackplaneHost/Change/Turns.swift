/// The queue of changes, which run one after another in the order of their requests.
final class Turns {
    /// A request that waits for earlier changes.
    private struct Turn {
        /// A Boolean value that indicates whether the request changes nothing and therefore does not end a probation.
        var onlyLooks: Bool
        /// The continuation, which is resumed with a Boolean value that indicates whether the request has its turn.
        var continuation: UnsafeContinuation<Bool, Never>
    }
    /// A Boolean value that indicates whether a change of the manifest, a reset or a swap is in progress.
    private(set) var isTaken = false
    private var waiting: [Turn] = []
    /// The function that is called when a change is requested while another one is in progress.
    var whenRequested: (() -> Void)?

    var waitingCount: Int { waiting.count }

    /// A Boolean value that indicates whether no waiting request would change anything.
    var onlyLookersWait: Bool { waiting.allSatisfy(\.onlyLooks) }

    /// Waits until every change requested earlier has ended.
    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        _ = await withUnsafeContinuation {
            waiting.append(Turn(onlyLooks: false, continuation: $0))
            whenRequested?()
        }
    }

    /// Waits until a request that changes nothing may run: at its turn, or during a probation, which it does not end.
    ///
    /// - Returns: A Boolean value that indicates whether the request has a turn, which must be ended.
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

    /// Resumes requests that change nothing, because they need not wait for the end of the probation that begins.
    func letLook() {
        let looking = waiting.filter(\.onlyLooks)
        waiting.removeAll(where: \.onlyLooks)
        for turn in looking { turn.continuation.resume(returning: false) }
    }
}
