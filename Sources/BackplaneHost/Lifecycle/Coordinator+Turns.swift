/// Changes come one after the other, in the order in which they were asked for.
extension Coordinator {
    /// Waits until every change that was asked for before is over.
    ///
    /// - Parameter endingProbation: a generation on probation stays, and is not waited for.
    func takeTurn(endingProbation: Bool = true) async {
        guard isInTurn else {
            isInTurn = true
            return
        }
        await withUnsafeContinuation { turns.append(Turn(endsProbation: endingProbation, continuation: $0)) }
    }

    func endTurn() {
        if turns.isEmpty { isInTurn = false } else { turns.removeFirst().continuation.resume() }
    }
}

/// A change that waits for those before it.
struct Turn {
    /// A generation that is on probation then stays.
    var endsProbation: Bool
    var continuation: UnsafeContinuation<Void, Never>
}
