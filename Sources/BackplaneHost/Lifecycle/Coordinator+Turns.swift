/// Changes come one after the other, in the order in which they were asked for.
extension Coordinator {
    /// Waits until every change that was asked for before is over; a generation on probation then stays.
    func takeTurn() async {
        guard isInTurn else {
            isInTurn = true
            return
        }
        swapUnderWay?.endsProbation = true
        await withUnsafeContinuation { turns.append($0) }
    }

    func endTurn() {
        if turns.isEmpty { isInTurn = false } else { turns.removeFirst().resume() }
    }
}
