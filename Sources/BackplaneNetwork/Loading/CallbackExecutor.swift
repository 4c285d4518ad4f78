/// A place where the callbacks of a load run.
///
/// ```swift
/// load.onSuccess(on: .main) { books in show(books) }
/// load.onSuccess(on: CallbackExecutor { work in queue.async(execute: work) }) { books in index(books) }
/// ```
public struct CallbackExecutor: Sendable {
    /// Runs the work, and returns when it has ended.
    let run: @Sendable (@escaping @Sendable () -> Void) async -> Void

    private init(run: @escaping @Sendable (@escaping @Sendable () -> Void) async -> Void) { self.run = run }

    /// Creates an executor from a function that runs what it is given, once, now or later.
    public init(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.init(run: { work in
            await withUnsafeContinuation { (ended: UnsafeContinuation<Void, Never>) in
                enqueue {
                    work()
                    ended.resume()
                }
            }
        })
    }

    /// Swift's own threads.
    public static var concurrent: CallbackExecutor { CallbackExecutor(run: { work in work() }) }

    /// The main actor.
    public static var main: CallbackExecutor { CallbackExecutor(run: { work in await MainActor.run { work() } }) }

    /// Returns a place where callbacks run isolated to an actor.
    public static func actor(_ actor: some Actor) -> CallbackExecutor {
        CallbackExecutor(run: { work in await Self.run(work, on: actor) })
    }

    private static func run(_ work: @Sendable () -> Void, on actor: isolated some Actor) async { work() }
}
