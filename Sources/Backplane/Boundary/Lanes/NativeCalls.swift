import Synchronization

/// The tasks of the native calls into one component, which a swap may have to cancel.
///
/// A native call runs in its caller's task, which is unknown to other code. A component whose calls a swap waits for
/// therefore lists them here, and no other component does. Entering and leaving cost one uncontended atomic operation
/// each.
///
/// This type is a pointer rather than an object, so that a call retains nothing.
@frozen @usableFromInline
struct NativeCalls: @unchecked Sendable {  // the words are atomics, freed when no more calls are possible
    private typealias Word = UnsafeMutablePointer<Atomic<UInt>>
    /// The address of the words of the calls, each 0 if unused, followed by the address of the next block.
    @usableFromInline let block: UnsafeMutableRawPointer
    private static let count = 64

    init() { block = UnsafeMutableRawPointer(Self.makeBlock()) }

    private var words: Word { block.assumingMemoryBound(to: Atomic<UInt>.self) }

    private static func makeBlock() -> Word {
        let words = Word.allocate(capacity: count + 1)
        for index in 0...count { (words + index).initialize(to: Atomic(0)) }
        return words
    }

    // `UnsafeCurrentTask` is one pointer, to a task that is alive while it is listed: its call has not returned.

    /// Lists the current task and returns its position; returns `nil` outside any task.
    @usableFromInline
    func enter() -> UnsafeMutableRawPointer? {
        guard let task = withUnsafeCurrentTask(body: { $0.map { unsafeBitCast($0, to: UInt.self) } }) else {
            return nil
        }
        var words = words
        while true {
            for step in 0..<Self.count {
                // Tasks begin at different places, so that calls of several cores seldom meet.
                let word = words + ((Int(truncatingIfNeeded: task >> 8) &+ step) & (Self.count - 1))
                guard word.pointee.load(ordering: .relaxed) == 0 else { continue }
                if word.pointee.compareExchange(expected: 0, desired: task, ordering: .acquiring).exchanged {
                    return UnsafeMutableRawPointer(word)
                }
            }
            words = Self.next(after: words) ?? Self.append(to: words)
        }
    }

    /// Removes the current task from the list, once no cancellation of it is in progress.
    @usableFromInline
    func leave(_ place: UnsafeMutableRawPointer?) {
        guard let word = place?.assumingMemoryBound(to: Atomic<UInt>.self) else { return }
        while true {
            let task = word.pointee.load(ordering: .relaxed) & ~Self.isBeingCancelled
            if word.pointee.compareExchange(expected: task, desired: 0, ordering: .releasing).exchanged { return }
        }
    }

    /// Cancels the tasks of all calls in flight.
    ///
    /// A task that is being cancelled stays listed, and therefore alive, until it has been cancelled.
    func cancelAll() {
        var block: Word? = words
        while let words = block {
            for index in 0..<Self.count {
                let word = words + index, task = word.pointee.load(ordering: .relaxed)
                guard task != 0, task & Self.isBeingCancelled == 0,
                    word.pointee.compareExchange(
                        expected: task, desired: task | Self.isBeingCancelled, ordering: .acquiringAndReleasing
                    ).exchanged
                else { continue }
                unsafeBitCast(task, to: UnsafeCurrentTask.self).cancel()
                word.pointee.store(task, ordering: .releasing)
            }
            block = Self.next(after: words)
        }
    }

    func free() {
        var block: Word? = words
        while let words = block {
            block = Self.next(after: words)
            words.deinitialize(count: Self.count + 1).deallocate()
        }
    }

    private static func next(after words: Word) -> Word? {
        Word(bitPattern: words[count].load(ordering: .acquiring))
    }

    /// Returns the block after the last one, which another call may have added at the same time.
    private static func append(to words: Word) -> Word {
        let new = makeBlock()
        let (isOurs, other) = words[count].compareExchange(
            expected: 0, desired: UInt(bitPattern: new), ordering: .acquiringAndReleasing)
        if isOurs { return new }
        new.deinitialize(count: count + 1).deallocate()
        return Word(bitPattern: other)!
    }

    /// The bit of a word whose task is being cancelled; it is free because tasks are aligned.
    private static let isBeingCancelled: UInt = 1
}
