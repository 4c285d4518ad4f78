import BookshelfContracts
import Synchronization

/// The latest borrowings, and the readers that wait for the next one.
final class Borrowings: Sendable {
    /// The borrowings that are preserved across a swap.
    struct Kept: Codable, Sendable {
        var all: [Borrowing] = []
        var count = 0
    }
    private struct State {
        var kept = Kept()
        var waiting: [UInt64: AsyncStream<Never>.Continuation] = [:]
        var lastWaiting: UInt64 = 0
    }
    private let state = Mutex(State())

    /// The number of borrowings to keep.
    private static let limit = 1_000

    var kept: Kept {
        get { state.withLock { $0.kept } }
        set { state.withLock { $0.kept = newValue } }
    }

    /// Adds a borrowing, and resumes the readers that wait for it.
    func add(_ book: String) {
        let waiting = state.withLock { state in
            state.kept.count += 1
            state.kept.all.append(Borrowing(number: state.kept.count, book: book))
            if state.kept.all.count > Self.limit { state.kept.all.removeFirst() }
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Waits for the first borrowing after a number, and returns it.
    ///
    /// After a reset, numbers start again from 1. A number that has not been reached yet therefore means the beginning.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func next(after number: Int) async throws -> Borrowing {
        while true {
            let (signal, continuation) = AsyncStream.makeStream(of: Never.self)
            let next = state.withLock { state -> Borrowing? in
                let number = number > state.kept.count ? 0 : number
                if state.kept.count > number { return state.kept.all.first { $0.number > number } }
                state.lastWaiting += 1
                let place = state.lastWaiting
                state.waiting[place] = continuation
                continuation.onTermination = { [weak self] _ in
                    // A reader that has left does not wait.
                    _ = self?.state.withLock { $0.waiting.removeValue(forKey: place) }
                }
                return nil
            }
            if let next { return next }
            for await _ in signal {}
            try Task.checkCancellation()
        }
    }
}
