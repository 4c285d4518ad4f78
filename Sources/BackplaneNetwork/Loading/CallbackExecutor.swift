import Synchronization

/// An executor for the callbacks of a load.
///
/// ```swift
/// load.onSuccess(on: .main) { books in show(books) }
/// load.onSuccess(on: CallbackExecutor { work in queue.async(execute: work) }) { books in index(books) }
/// ```
public struct CallbackExecutor: Sendable {
    /// One piece of work passed to another executor, which may also drop it or run it twice.
    private final class Turn: Sendable {
        private let start = Once()
        private let work: @Sendable () -> Void
        private let ended: UnsafeContinuation<Void, Never>

        init(_ work: @escaping @Sendable () -> Void, _ ended: UnsafeContinuation<Void, Never>) {
            (self.work, self.ended) = (work, ended)
        }

        deinit { if start.take() { ended.resume() } }

        func run() {
            guard start.take() else { return }
            work()
            ended.resume()
        }
    }

    let run: @Sendable (@escaping @Sendable () -> Void) async -> Void

    private init(run: @escaping @Sendable (@escaping @Sendable () -> Void) async -> Void) { self.run = run }

    /// Creates an executor from a function that runs the given work, now or later.
    ///
    /// Later callbacks wait until the work has run, or was dropped. The work runs only once, no matter how often it is
    /// called.
    public init(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.init(run: { work in
            await withUnsafeContinuation { (ended: UnsafeContinuation<Void, Never>) in
                let turn = Turn(work, ended)
                enqueue { turn.run() }
            }
        })
    }

    /// Swift's thread pool.
    public static var concurrent: CallbackExecutor { CallbackExecutor(run: { work in work() }) }

    /// The main actor.
    public static var main: CallbackExecutor { CallbackExecutor(run: { work in await MainActor.run { work() } }) }

    /// Returns an executor whose callbacks run isolated to an actor.
    public static func actor(_ actor: some Actor) -> CallbackExecutor {
        CallbackExecutor(run: { work in await Self.run(work, on: actor) })
    }

    private static func run(_ work: @Sendable () -> Void, on actor: isolated some Actor) async { work() }
}

/// The due callbacks of one load, which run one after another, each on its executor.
final class CallbackQueue: Sendable {
    private struct State {
        var due: [(executor: CallbackExecutor, work: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let state = Mutex(State())

    func add(_ executor: CallbackExecutor, _ work: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            state.due.append((executor, work))
            return !state.isRunning
        }
        if begins { Task { await run() } }
    }

    private func run() async {
        while true {
            let due = state.withLock { state in
                defer { state.due = [] }
                state.isRunning = !state.due.isEmpty
                return state.due
            }
            if due.isEmpty { return }
            for (executor, work) in due { await executor.run(work) }
        }
    }
}
