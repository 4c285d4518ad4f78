import Synchronization

/// What callers have to know of the swaps under way to tell whether an answer is right.
final class SwapWatch: Sendable {
    private let begun: Atomic<Int>, ended: Atomic<Int>, windowNow = Atomic(0), over = Atomic(false)

    /// - Parameter handovers: how often the state has been handed over so far.
    init(handovers: Int = 0) {
        begun = Atomic(handovers)
        ended = Atomic(handovers)
    }

    /// A swap begins that hands the state over so many times; none where it is to fail.
    func begin(handovers: Int = 1) { begun.add(handovers, ordering: .sequentiallyConsistent) }
    func end(handovers: Int = 1) { ended.add(handovers, ordering: .sequentiallyConsistent) }

    /// How often the state has been handed over at least, and may have been at most.
    var least: Int { ended.load(ordering: .sequentiallyConsistent) }
    var most: Int { begun.load(ordering: .sequentiallyConsistent) }

    /// The stretch of the run that a gap counts for.
    var window: Int {
        get { windowNow.load(ordering: .relaxed) }
        set { windowNow.store(newValue, ordering: .relaxed) }
    }

    var isOver: Bool { over.load(ordering: .relaxed) }
    func stop() { over.store(true, ordering: .relaxed) }
}
