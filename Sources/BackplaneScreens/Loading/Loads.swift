import Backplane
public import BackplaneNetwork
import Synchronization

/// The loads of a screen, which redraw it, can be repeated after a failure, and are cancelled with the screen.
///
/// ```swift
/// actor BookList: Screen {
///     private let library: Wire<Library>
///     private let agent: Agent
///     private let loads: Loads
///     private var page: LoadState<CataloguePage> { loads["page"] }
///
///     static func assemble(with input: Nothing, agent: Agent) async throws -> BookList {
///         let list = BookList(try await agent.resolve(Library.self), agent, Loads(agent))
///         await list.show(page: 1)
///         return list
///     }
///
///     private func show(page: Int) {
///         loads.start("page", replacing: true) { [library, agent] in try await library.browse(page, agent.call) }
///     }
///
///     var body: [View] {
///         LoadOverlay(loads) {
///             for book in page.value?.books ?? [] { Text(book.title) }
///         }
///     }
///
///     func handle(_ event: ViewEvent) async throws {
///         if try await loads.handle(event) { return }
///         …
///     }
/// }
/// ```
///
/// The functions of loads must not capture the screen, only what they need: a screen that they retain is not released
/// while one of the loads can be repeated.
public final class Loads: Sendable {
    /// A function that begins a load while the lock is held.
    private typealias Beginning = @Sendable (Loads, inout State) -> Void
    private struct State {
        var tracker = LoadTracker()
        /// The latest values.
        var values: [String: any Sendable] = [:]
        /// The keys of the loads that began when their states were first read.
        var known: Set<String> = []
        /// The functions that begin the load of a key again.
        var repeats: [String: Beginning] = [:]
        /// The functions that cancel the loads that run.
        var cancels: [LoadTracker.ID: @Sendable () -> Void] = [:]
        /// The number of the next function; the numbers of endpoints' loads are below 2⁵³.
        var next: LoadTracker.ID = 1 << 53
    }
    private let state = Mutex(State())
    private let redraw: @Sendable () -> Void

    /// Creates an empty collection for the loads of the screen with an agent.
    public convenience init(_ agent: Agent) { self.init { agent.redraw() } }

    package init(redraw: @escaping @Sendable () -> Void) { self.redraw = redraw }

    deinit { for cancel in state.withLock({ $0.cancels.values }) { cancel() } }

    // MARK: Starting

    /// Starts a load, unless a load of the same key runs: a button that is pressed twice loads once.
    ///
    /// - Parameters:
    ///   - key: The key of the load.
    ///   - replacing: Whether a running load of the key is cancelled instead, such as the search for an earlier text.
    ///   - work: The function that loads the value.
    /// - Returns: `false` if nothing was started.
    @discardableResult
    public func start<Value: Sendable>(
        _ key: String, replacing: Bool = false, _ work: @escaping @Sendable () async throws -> Value
    ) -> Bool {
        start(key, replacing: replacing) { _ in try await work() }
    }

    /// Starts a load that reports its progress, unless a load of the same key runs.
    ///
    /// - Parameters:
    ///   - key: The key of the load.
    ///   - replacing: Whether a running load of the key is cancelled instead.
    ///   - work: The function that loads the value, and reports the completed part, from 0 to 1, if it is known.
    /// - Returns: `false` if nothing was started.
    @discardableResult
    public func start<Value: Sendable>(
        _ key: String, replacing: Bool = false,
        _ work: @escaping @Sendable (_ report: @escaping @Sendable (Double?) -> Void) async throws -> Value
    ) -> Bool {
        begin(key, replacing: replacing) { loads, state in
            Self.run(key, loads, &state) { [weak loads] id in
                try await work { [weak loads] fraction in loads?.change { $0.tracker.progress(id, fraction) } }
            }
        }
    }

    /// Follows a sequence, such as a stream of a wire, whose latest element is the value of the key.
    ///
    /// The sequence counts as a load until its first element. A failure, even a later one, can be repeated as usual.
    ///
    /// - Parameters:
    ///   - key: The key of the sequence; a running load and an earlier sequence of the key are cancelled.
    ///   - elements: The function that begins the sequence.
    public func follow<Elements: AsyncSequence & SendableMetatype>(
        _ key: String, _ elements: @escaping @Sendable () async throws -> Elements
    ) where Elements.Element: Sendable, Elements.AsyncIterator: SendableMetatype {
        begin(key, replacing: true) { loads, state in
            Self.run(key, loads, &state) { [weak loads] id in
                for try await element in try await elements() { loads?.settle(id, key, element) }
                return nil
            }
        }
    }

    /// Returns the state of a key, and starts its load the first time, for example in the first drawing.
    public func lazily<Value: Sendable>(
        _ key: String, _ work: @escaping @Sendable () async throws -> Value
    ) -> LoadState<Value> {
        if state.withLock({ $0.known.insert(key).inserted }) { start(key, work) }
        return self[key]
    }

    private static func run(
        _ key: String, _ loads: Loads, _ state: inout State,
        _ work: @escaping @Sendable (LoadTracker.ID) async throws -> (any Sendable)?
    ) {
        let id = state.next
        state.next += 1
        state.tracker.start(id, key)
        let task = Task { [weak loads] in
            do {
                let value = try await work(id)
                loads?.end(id, key, value)
            } catch {
                loads?.end(id, key, nil, BackplaneError(thrown: error))
            }
        }
        state.cancels[id] = { task.cancel() }
    }

    /// Tracks a started load of an endpoint, and keeps its value.
    ///
    /// - Returns: `false` if another load of the key runs; this load then continues untracked.
    @discardableResult
    public func track<Value: Sendable>(_ key: String, _ load: EndpointLoad<Value>) -> Bool {
        let latest = LatestValue()
        // For one load, this is called before the observer of its end.
        load.onSuccess { value in latest.set(value) }
        return track(key, AnyLoad(load)) { latest.take() }
    }

    /// Tracks a started load of any endpoint, without its value.
    ///
    /// - Returns: `false` if another load of the key runs; this load then continues untracked.
    @discardableResult
    public func track(_ key: String, _ load: AnyLoad) -> Bool { track(key, load) { Nothing() } }

    private func track(_ key: String, _ load: AnyLoad, _ value: @escaping @Sendable () -> (any Sendable)?) -> Bool {
        @Sendable func follow(_ load: AnyLoad, _ state: inout State) {
            state.tracker.start(load.id, key)
            state.cancels[load.id] = { load.cancel() }
        }
        let isStarted = begin(key, replacing: false) { _, state in
            // The new load has the observer below. It may end at once, but its end is noted once the lock is free.
            follow(load.reload(), &state)
        } first: { _, state in
            follow(load, &state)
        }
        guard isStarted else { return false }
        load.observe { [weak self] event in
            if event.stage == .end {
                self?.end(event.exchange, key, value(), event.failure)
            } else {
                self?.change { $0.tracker.note(event, key) }
            }
        }
        return true
    }

    /// Begins a load, unless another load of the key runs and is not to be replaced.
    ///
    /// - Parameters:
    ///   - run: The function that begins the load again.
    ///   - first: The function that begins the load now; `nil` for `run`.
    @discardableResult
    private func begin(
        _ key: String, replacing: Bool, _ run: @escaping Beginning, first: Beginning? = nil
    ) -> Bool {
        let replaced = state.withLock { state -> [@Sendable () -> Void]? in
            guard replacing || !state.tracker.isLoading(key) else {
                state.tracker.skip()
                return nil
            }
            let replaced = Self.cancel(key, &state)
            state.repeats[key] = run
            (first ?? run)(self, &state)
            return replaced
        }
        guard let replaced else { return false }
        for cancel in replaced { cancel() }
        redraw()
        return true
    }

    /// Ends a load; the end of a cancelled load changes nothing.
    private func end(
        _ id: LoadTracker.ID, _ key: String, _ value: (any Sendable)?, _ error: BackplaneError? = nil
    ) {
        change { state in
            state.cancels[id] = nil
            guard let end = state.tracker.end(id, error) else { return }
            if end == .succeeded, let value { state.values[key] = value }
            if end != .failed { state.repeats[key] = nil }
        }
    }

    private func settle(_ id: LoadTracker.ID, _ key: String, _ value: any Sendable) {
        change { state in if state.tracker.settle(id) { state.values[key] = value } }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        redraw()
    }

    // MARK: States

    /// The running and the failed loads, as a value.
    public var tracker: LoadTracker { state.withLock { $0.tracker } }

    /// The state of a key, with the values of its loads.
    ///
    /// A value of another type is missing.
    public subscript<Value: Sendable>(key: String) -> LoadState<Value> {
        state.withLock { LoadState(of: key, in: $0.tracker, value: $0.values[key].flatMap { $0 as? Value }) }
    }

    // MARK: Repeating and ending

    /// Repeats the failed load of a key, or all failed loads.
    public func retry(_ key: String? = nil) {
        state.withLock { state in
            for failure in state.tracker.failures(of: key) where !state.tracker.isLoading(failure.key) {
                if let run = state.repeats[failure.key] { run(self, &state) }
            }
        }
        redraw()
    }

    /// Repeats a failed load, unless it has already been repeated.
    public func retry(_ failure: LoadFailure) { retry(failure.key) }

    /// Cancels the loads of a key, or all loads; nothing more is shown of them.
    public func cancel(_ key: String? = nil) {
        for cancel in state.withLock({ Self.cancel(key, &$0) }) { cancel() }
        redraw()
    }

    /// Removes the failure of a key, or all failures, without repeating the loads.
    public func dismiss(_ key: String? = nil) { change { $0.tracker.dismiss(key) } }

    private static func cancel(_ key: String?, _ state: inout State) -> [@Sendable () -> Void] {
        state.tracker.cancel(key).compactMap { state.cancels.removeValue(forKey: $0) }
    }

    /// Handles an event of a ``LoadOverlay``: "Try again" repeats the failed loads, and "Cancel" removes the failures.
    ///
    /// - Parameters:
    ///   - event: The event that the screen handles.
    ///   - onCancel: A function that is called after "Cancel"; it can dismiss the screen.
    /// - Returns: `false` for the event of another view.
    /// - Throws: The errors of `onCancel`.
    public func handle(_ event: ViewEvent, onCancel: () async throws -> Void = {}) async throws -> Bool {
        guard event.kind == .press, let action = LoadAction(event.id) else { return false }
        switch action {
        case .retry(let key): retry(key)
        case .cancel(let key):
            dismiss(key)
            try await onCancel()
        }
        return true
    }
}

/// The value of a load of an endpoint, between its arrival and the end.
private final class LatestValue: Sendable {
    private let value = Mutex<(any Sendable)?>(nil)

    func set(_ new: any Sendable) { value.withLock { $0 = new } }
    func take() -> (any Sendable)? { value.withLock { $0.take() } }
}
