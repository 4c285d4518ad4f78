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
        if endingProbation { swapUnderWay?.endsProbation = true }
        await withUnsafeContinuation { turns.append($0) }
    }

    func endTurn() {
        if turns.isEmpty { isInTurn = false } else { turns.removeFirst().resume() }
    }
}
