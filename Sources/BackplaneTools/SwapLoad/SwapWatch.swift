import Synchronization

/// The progress of the swaps, with which callers verify answers.
package final class SwapWatch: Sendable {
    private let begun: Atomic<Int>, ended: Atomic<Int>, windowNow = Atomic(0), over = Atomic(false)

    /// Creates a watch for a run without a swap in progress.
    ///
    /// - Parameter handovers: The number of handovers of the state so far.
    package init(handovers: Int = 0) {
        begun = Atomic(handovers)
        ended = Atomic(handovers)
    }

    /// Records the start of a swap with this many handovers of the state; 0 if it is to fail.
    package func begin(handovers: Int = 1) { begun.add(handovers, ordering: .sequentiallyConsistent) }
    package func end(handovers: Int = 1) { ended.add(handovers, ordering: .sequentiallyConsistent) }

    /// The minimum number of handovers so far.
    package var least: Int { ended.load(ordering: .sequentiallyConsistent) }
    /// The maximum number of handovers so far.
    var most: Int { begun.load(ordering: .sequentiallyConsistent) }

    /// The window of the run to which gaps currently count.
    package var window: Int {
        get { windowNow.load(ordering: .relaxed) }
        set { windowNow.store(newValue, ordering: .relaxed) }
    }

    package var isOver: Bool { over.load(ordering: .relaxed) }
    package func stop() { over.store(true, ordering: .relaxed) }
}
