import Synchronization

/// What callers have to know of the swaps under way to tell whether an answer is right.
package final class SwapWatch: Sendable {
    private let begun: Atomic<Int>, ended: Atomic<Int>, windowNow = Atomic(0), over = Atomic(false)

    /// - Parameter handovers: how often the state has been handed over so far.
    package init(handovers: Int = 0) {
        begun = Atomic(handovers)
        ended = Atomic(handovers)
    }

    /// A swap begins that hands the state over so many times; none where it is to fail.
    package func begin(handovers: Int = 1) { begun.add(handovers, ordering: .sequentiallyConsistent) }
    package func end(handovers: Int = 1) { ended.add(handovers, ordering: .sequentiallyConsistent) }

    /// How often the state has been handed over at least, and may have been at most.
    package var least: Int { ended.load(ordering: .sequentiallyConsistent) }
    var most: Int { begun.load(ordering: .sequentiallyConsistent) }

    /// The stretch of the run that a gap counts for.
    package var window: Int {
        get { windowNow.load(ordering: .relaxed) }
        set { windowNow.store(newValue, ordering: .relaxed) }
    }

    package var isOver: Bool { over.load(ordering: .relaxed) }
    package func stop() { over.store(true, ordering: .relaxed) }
}
