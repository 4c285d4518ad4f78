/// The order of changes: one after the other, as they were asked for.
final class Turns {
    /// Somebody who waits for the changes that were asked for before.
    private struct Turn {
        /// It ends no probation: what it asks for changes nothing.
        var onlyLooks: Bool
        /// Given whether the turn has come.
        var continuation: UnsafeContinuation<Bool, Never>
    }
    /// A change of the manifest, a reset or a swap is under way, and others wait for their turn.
    private(set) var isTaken = false
    private var waiting: [Turn] = []

    var waitingCount: Int { waiting.count }

    /// Nobody waits who would change something.
    var onlyLookersWait: Bool { waiting.allSatisfy(\.onlyLooks) }

    /// Waits until every change that was asked for before is over.
    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        _ = await withUnsafeContinuation { waiting.append(Turn(onlyLooks: false, continuation: $0)) }
    }

    /// Waits until somebody who changes nothing may look: for a turn, or for a probation, which may last and stays as it is.
    ///
    /// - Returns: is it a turn, and so has to be ended?
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

    /// Whoever only looks need not wait for the end of the probation that begins.
    func letLook() {
        let looking = waiting.filter(\.onlyLooks)
        waiting.removeAll(where: \.onlyLooks)
        for turn in looking { turn.continuation.resume(returning: false) }
    }
}
