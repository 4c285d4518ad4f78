/// Changes come one after the other, in the order in which they were asked for.
extension Coordinator {
    /// Waits until every change that was asked for before is over.
    func takeTurn() async {
        guard isInTurn else {
            isInTurn = true
            return
        }
        _ = await withUnsafeContinuation { turns.append(Turn(onlyLooks: false, continuation: $0)) }
    }

    /// Waits until somebody who changes nothing may look: for a turn, or for a probation, which may last and stays as it is.
    ///
    /// - Returns: is it a turn, and so has to be ended?
    func takeLook() async -> Bool {
        if swapUnderWay?.isOnProbation ?? false { return false }
        guard isInTurn else {
            isInTurn = true
            return true
        }
        return await withUnsafeContinuation { turns.append(Turn(onlyLooks: true, continuation: $0)) }
    }

    func endTurn() {
        if turns.isEmpty { isInTurn = false } else { turns.removeFirst().continuation.resume(returning: true) }
    }

    /// Whoever only looks need not wait for the end of the probation that begins.
    func letLook() {
        let looking = turns.filter(\.onlyLooks)
        turns.removeAll(where: \.onlyLooks)
        for turn in looking { turn.continuation.resume(returning: false) }
    }
}

/// Somebody who waits for the changes that were asked for before.
struct Turn {
    /// It ends no probation: what it asks for changes nothing.
    var onlyLooks: Bool
    /// Given whether the turn has come.
    var continuation: UnsafeContinuation<Bool, Never>
}
