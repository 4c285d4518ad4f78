public import Backplane
import Synchronization

/// A started load, which can be observed by callbacks, awaited and cancelled.
///
/// ```swift
/// let load = search.load(on: http, call)
///     .onSuccess(on: .main) { books in show(books) }
///     .onFailure(on: .main) { error in show(error) }
/// ```
///
/// Any number of callbacks can be added. They run one after another in the order in which they were added, each on its
/// executor. A load ends exactly once, by success, failure or cancellation; a callback that is added after the end is
/// also called. Callbacks are released with the load, so they must not retain it.
public final class EndpointLoad<Response: Sendable>: Sendable {
    /// A function that loads the endpoint, with a number for the events of the load.
    typealias Load =
        @Sendable (UInt64, @escaping @Sendable (HTTPProgress) -> Void) async throws(BackplaneError) -> Response
    private let load: Load
    private let ends: LoadEnds<Response>
    private let task: Task<Result<Response, BackplaneError>, Never>
    /// The functions that have added callbacks, in order.
    private let additions = Mutex<[@Sendable (LoadEnds<Response>) -> Void]>([])

    init(_ event: ExchangeEvent, _ load: @escaping Load) {
        let ends = LoadEnds<Response>(event)
        (self.ends, self.load) = (ends, load)
        task = Task {
            let result: Result<Response, BackplaneError>
            do {
                result = .success(try await load(event.exchange) { ends.progressed($0) })
            } catch {
                result = .failure(BackplaneError(thrown: error))
            }
            ends.ended(result)
            return result
        }
    }

    /// Adds a function that is called with the value, if any.
    @discardableResult
    public func onSuccess(
        on executor: CallbackExecutor = .concurrent, _ body: @escaping @Sendable (Response) -> Void
    ) -> Self {
        onCompletion(on: executor) { if case .success(let value) = $0 { body(value) } }
    }

    /// Adds a function that is called with the error, if any; a cancelled load has the error `call.cancelled`.
    @discardableResult
    public func onFailure(
        on executor: CallbackExecutor = .concurrent, _ body: @escaping @Sendable (BackplaneError) -> Void
    ) -> Self {
        onCompletion(on: executor) { if case .failure(let error) = $0 { body(error) } }
    }

    /// Adds a function that is called at the end, regardless of the outcome.
    @discardableResult
    public func onCompletion(
        on executor: CallbackExecutor = .concurrent,
        _ body: @escaping @Sendable (Result<Response, BackplaneError>) -> Void
    ) -> Self {
        add { $0.add(executor, body) }
    }

    /// Adds a function that is called with the progress of both bodies, before the functions of the end.
    ///
    /// Newer progress replaces progress that has not been reported yet. A function that is added late, even after the
    /// end, is called with the latest progress.
    @discardableResult
    public func onProgress(
        on executor: CallbackExecutor = .concurrent, _ body: @escaping @Sendable (HTTPProgress) -> Void
    ) -> Self {
        add { $0.add(executor, progress: body) }
    }

    /// Adds an observer that is notified of the start, progress and the end, independently of the response's type.
    ///
    /// Observers of the client or the endpoint (``Endpoint/observers``) are also notified of attempts and heads, and
    /// have the same ``ExchangeEvent/exchange``.
    @discardableResult
    public func observe(
        on executor: CallbackExecutor = .concurrent, _ body: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> Self {
        add { $0.add(executor, observer: body) }
    }

    private func add(_ addition: @escaping @Sendable (LoadEnds<Response>) -> Void) -> Self {
        additions.withLock { $0.append(addition) }
        addition(ends)
        return self
    }

    /// Starts another load of the endpoint, which calls the functions that were added to this one, in the same order.
    ///
    /// This load continues, unless it has ended.
    @discardableResult
    public func reload() -> EndpointLoad {
        var event = ends.start
        event.exchange = .random(in: 1..<(1 << 53))
        return additions.withLock(\.self).reduce(EndpointLoad(event, load)) { $0.add($1) }
    }

    var id: UInt64 { ends.start.exchange }

    /// Cancels the load, which ends with `call.cancelled` unless it has already ended.
    public func cancel() { task.cancel() }

    /// The value, once the load has ended; cancelling the waiting task does not cancel the load.
    public var value: Response {
        get async throws(BackplaneError) { try await result.get() }
    }

    /// The value or the error, once the load has ended; cancelling the waiting task does not cancel the load.
    public var result: Result<Response, BackplaneError> {
        get async { await task.value }
    }
}

/// A started load of any type, for interface elements that show loads, such as an overlay or a button.
///
/// ```swift
/// let shelf = AnyLoad(books.load(on: http).onSuccess { books in show(books) })
/// shelf.observe(on: .main) { event in if event.stage == .end, event.failure != nil { offerRetry(of: shelf) } }
/// ```
public struct AnyLoad: Identifiable, Sendable {
    /// The number of the load, which is ``ExchangeEvent/exchange`` of its events.
    public let id: UInt64
    private let observing: @Sendable (CallbackExecutor, @escaping @Sendable (ExchangeEvent) -> Void) -> Void
    private let cancelling: @Sendable () -> Void
    private let reloading: @Sendable () -> AnyLoad

    /// Creates a handle of a load.
    public init<Response>(_ load: EndpointLoad<Response>) {
        (id, cancelling) = (load.id, { load.cancel() })
        observing = { executor, body in load.observe(on: executor, body) }
        reloading = { AnyLoad(load.reload()) }
    }

    /// Adds an observer that is notified of the start, progress and the end.
    public func observe(
        on executor: CallbackExecutor = .concurrent, _ body: @escaping @Sendable (ExchangeEvent) -> Void
    ) {
        observing(executor, body)
    }

    /// Cancels the load, which ends with `call.cancelled` unless it has already ended.
    public func cancel() { cancelling() }

    /// Starts another load of the endpoint, with the callbacks and observers of this one.
    @discardableResult
    public func reload() -> AnyLoad { reloading() }
}

/// The functions that wait for the end of a load, and for its progress.
private final class LoadEnds<Response: Sendable>: Sendable {
    typealias Ending = @Sendable (Result<Response, BackplaneError>) -> Void

    private struct State {
        var endings: [(executor: CallbackExecutor, body: Ending)] = []
        var watchers: [ProgressWatcher] = []
        var progress: HTTPProgress?
        var result: Result<Response, BackplaneError>?
    }
    private let queue = CallbackQueue()
    let start: ExchangeEvent
    private let began = ContinuousClock.now
    private let state = Mutex(State())

    init(_ start: ExchangeEvent) { self.start = start }

    private func event(_ stage: ExchangeEvent.Stage, _ progress: HTTPProgress?) -> ExchangeEvent {
        var event = start
        (event.stage, event.after) = (stage, (.now - began).nanoseconds)
        if let progress { event.take(progress) }
        return event
    }

    // The queue is filled while the lock is held, so it has the order of the additions and the end.

    func add(_ executor: CallbackExecutor, _ body: @escaping Ending) {
        state.withLock { add(executor, body, &$0) }
    }

    private func add(_ executor: CallbackExecutor, _ body: @escaping Ending, _ state: inout State) {
        if let result = state.result {
            queue.add(executor) { body(result) }
        } else {
            state.endings.append((executor, body))
        }
    }

    func add(_ executor: CallbackExecutor, progress body: @escaping @Sendable (HTTPProgress) -> Void) {
        state.withLock { watch(ProgressWatcher(executor, body), &$0) }
    }

    func add(_ executor: CallbackExecutor, observer body: @escaping @Sendable (ExchangeEvent) -> Void) {
        let ending: Ending = { [self] result in
            var event = event(.end, state.withLock { $0.progress })
            if case .failure(let error) = result { (event.error, event.failure) = (error.code.rawValue, error) }
            body(event)
        }
        state.withLock { state in
            queue.add(executor) { [start] in body(start) }
            watch(ProgressWatcher(executor) { [self] in body(event(.progress, $0)) }, &state)
            add(executor, ending, &state)
        }
    }

    private func watch(_ watcher: ProgressWatcher, _ state: inout State) {
        if state.result == nil { state.watchers.append(watcher) }
        if let progress = state.progress { note(progress, for: watcher) }
    }

    private func note(_ progress: HTTPProgress, for watcher: ProgressWatcher) {
        if watcher.note(progress) { queue.add(watcher.executor) { watcher.report() } }
    }

    func progressed(_ progress: HTTPProgress) {
        state.withLock { state in
            guard state.result == nil else { return }
            state.progress = progress
            for watcher in state.watchers { note(progress, for: watcher) }
        }
    }

    func ended(_ result: Result<Response, BackplaneError>) {
        state.withLock { state in
            state.result = result
            for (executor, body) in state.endings { queue.add(executor) { body(result) } }
            (state.endings, state.watchers) = ([], [])
        }
    }
}

/// A function that receives the latest progress.
private final class ProgressWatcher: Sendable {
    let executor: CallbackExecutor
    private let body: @Sendable (HTTPProgress) -> Void
    private let latest = Mutex<HTTPProgress?>(nil)

    init(_ executor: CallbackExecutor, _ body: @escaping @Sendable (HTTPProgress) -> Void) {
        (self.executor, self.body) = (executor, body)
    }

    /// Records progress; returns `true` if a report of it is not due yet.
    func note(_ progress: HTTPProgress) -> Bool {
        latest.withLock { latest in
            defer { latest = progress }
            return latest == nil
        }
    }

    func report() { if let progress = latest.withLock({ $0.take() }) { body(progress) } }
}
