import Backplane
import Synchronization

/// The shell around the scheduler of one graph, which performs the scheduler's decisions.
///
/// Decisions are made while a lock is held, during which no code of a node, a handler or a subscriber runs. The lock of
/// the graph is acquired before that of the queue.
final class GraphEngine: Sendable {
    let name: String
    let queue: GraphQueue
    let store: StepStore
    let state: Mutex<State>

    struct State: Sendable {
        var scheduler: GraphScheduler
        /// The actions of one event, in memory that is reused.
        var actions: [GraphAction] = []
        /// The number of abandoned attempts whose code has not returned.
        var abandoned = 0
        /// A Boolean value that indicates whether every node has ended.
        var hasEnded = false
        /// A Boolean value that indicates whether the host knows of the end, so that the next graph may start.
        ///
        /// Only then are those who wait for the end told.
        var isOver = false
        /// The tasks that wait for the end of the graph, and for its code to return.
        var waiting: [UnsafeContinuation<Void, Never>] = []
        var draining: [UnsafeContinuation<Void, Never>] = []
        /// The tasks that wait for the end of a node.
        var watching: [Int32: [UnsafeContinuation<Void, Never>]] = [:]
        var feeds: [EventFeed] = []
        var lastFeed = 0
        var notifications = PauseNotifications()

        /// Makes the scheduler collect changes while there are subscribers.
        mutating func observe() { scheduler.isObserved = !feeds.isEmpty || !watching.isEmpty }
    }

    /// The consequences of an event, to be performed outside the lock.
    struct Effects {
        /// The nodes to start.
        var first: ReadyNode?
        var rest: [ReadyNode] = []
        /// A Boolean value that indicates whether the graph has ended.
        var hasEnded = false
        var actions: [GraphAction] = []
        var stopped: [Worker] = []
        var woken: [UnsafeContinuation<Void, Never>] = []
        var read: [(reader: UnsafeContinuation<NodeChange?, Never>, change: NodeChange?)] = []

        mutating func wake(_ waiting: inout [UnsafeContinuation<Void, Never>]) {
            woken += waiting
            waiting = []
        }
    }

    init(_ name: String, _ store: StepStore, _ scheduler: consuming GraphScheduler, on queue: GraphQueue) {
        (self.name, self.store, self.queue) = (name, store, queue)
        state = Mutex(State(scheduler: scheduler))
    }

    // MARK: Events

    /// Passes an event to the scheduler, and performs its decisions.
    func change(_ event: (inout GraphScheduler, inout [GraphAction]) -> Void) {
        begin(perform(state.withLock { decide(&$0, event) }))
    }

    /// Passes an event to the scheduler; its effects are for ``carryOut(_:)``.
    func decided(_ event: (inout GraphScheduler, inout [GraphAction]) -> Void) -> Effects {
        state.withLock { decide(&$0, event) }
    }

    func carryOut(_ effects: consuming Effects) { begin(perform(effects)) }

    /// Starts an attempt at a node and runs it.
    ///
    /// - Returns: The node to run instead of this one.
    nonisolated(nonsending) func run(_ ready: ReadyNode, on worker: Worker) async -> ReadyNode? {
        let step = store.steps[ready.node]
        var attempt = ready.attempt
        if attempt == nil {
            var effects = Effects()
            attempt = state.withLock { begin(&$0, ready.node, worker, &effects) }
            if attempt == nil { (effects.first, effects.rest) = queue.turn(freeing: 1) }
            let next = perform(effects)
            guard attempt != nil else { return next }
        }
        guard let attempt else { return nil }
        let timer = time(step, attempt)
        defer { timer?.cancel() }
        return await step.attempt(attempt, on: self)
    }

    /// Handles the report of an attempt that has returned.
    ///
    /// - Parameter accept: A function that is called under the lock if the node still waits for the attempt.
    func returned(_ step: GraphStep, _ attempt: UInt16, _ accept: () -> Void) -> ReadyNode? {
        report(step, attempt, .succeeded, retries: false, accept)
    }

    /// Handles the report of an attempt that has failed.
    func failed(_ step: GraphStep, _ attempt: UInt16, _ error: any Error, _ accept: () -> Void) -> ReadyNode? {
        let failure = BackplaneError(thrown: error)
        let retries = step.options?.retry.allows(after: Int(attempt), failure) ?? false
        return report(step, attempt, .failed, retries: retries) {
            step.failure = failure
            accept()
        }
    }

    private func report(
        _ step: GraphStep, _ attempt: UInt16, _ outcome: GraphScheduler.Outcome, retries: Bool, _ accept: () -> Void
    ) -> ReadyNode? {
        let effects = state.withLock { state in
            var isAwaited = false
            var effects = decide(&state) { scheduler, actions in
                isAwaited = scheduler.returned(
                    Int(step.index), attempt: attempt, outcome, retries: retries, &actions)
                if isAwaited { accept() }
            }
            guard isAwaited else {
                state.abandoned -= 1
                if state.isOver, state.abandoned == 0 { effects.wake(&state.draining) }
                return effects
            }
            let worker = step.worker.take()
            // The lock is not released, since the next node usually belongs to the same graph.
            if let worker, let ready = effects.first, ready.engine === self {
                let begun = begin(&state, ready.node, worker, &effects)
                effects.first?.attempt = begun
            }
            return effects
        }
        return perform(effects)
    }

    // MARK: Behind the lock

    /// Starts an attempt, if the node may. An attempt that does not count towards the queue's width lets another node
    /// start.
    private func begin(
        _ state: inout State, _ node: Int, _ worker: Worker, _ effects: inout Effects
    ) -> UInt16? {
        guard state.scheduler.begin(node) else { return nil }
        let traits = state.scheduler.nodes[node].traits
        if traits.contains(.tolerates) {
            for need in state.scheduler.shape.needs[of: node] where need.kind != .plain {
                knowFailure(of: need.node, state.scheduler)
            }
        }
        if traits.contains(.isWeightless) {
            let (first, rest) = queue.turn(freeing: 1)
            effects.rest += (first.map { [$0] } ?? []) + rest
        }
        store.steps[node].worker = worker
        publish(&state, &effects)
        return state.scheduler.nodes[node].attempt
    }

    func decide(
        _ state: inout State, _ event: (inout GraphScheduler, inout [GraphAction]) -> Void
    ) -> Effects {
        var effects = Effects()
        let before = state.scheduler.occupied
        event(&state.scheduler, &state.actions)
        let freed = before - state.scheduler.occupied
        if freed != 0 || !state.actions.isEmpty {
            (effects.first, effects.rest) = queue.turn(freeing: freed) { places in
                for case .ready(let node, let priority) in state.actions {
                    places.add(ReadyNode(engine: self, node: node), priority)
                }
            }
        }
        for action in state.actions {
            switch action {
            case .ready: break
            case .stop(let node):
                state.abandoned += 1
                if let worker = store.steps[node].worker.take() { effects.stopped.append(worker) }
            case .settle(let node):
                knowFailure(of: node, state.scheduler)
                effects.actions.append(action)
            case .notify, .timer, .retry: effects.actions.append(action)
            case .ended: (state.hasEnded, effects.hasEnded) = (true, true)
            }
        }
        state.actions.removeAll(keepingCapacity: state.actions.count <= 1_024)
        publish(&state, &effects)
        return effects
    }
}

// The consequences of an event, outside the lock.
extension GraphEngine {
    /// Performs the effects of an event, and those of the events that result from them.
    ///
    /// - Returns: The node to run next on the worker that reported the event, or on a new one.
    func perform(_ effects: consuming Effects) -> ReadyNode? {
        var effects = effects
        let own = effects.first
        for node in effects.rest { Worker.start(node) }
        if effects.hasEnded { finish(&effects) }
        for waiting in effects.woken { waiting.resume() }
        for (reader, change) in effects.read { reader.resume(returning: change) }
        for worker in effects.stopped { worker.cancel() }
        if effects.actions.isEmpty { return own }
        return perform(effects.actions, own)
    }

    private func perform(_ actions: [GraphAction], _ first: ReadyNode?) -> ReadyNode? {
        var own = first, actions = actions, place = 0
        while place < actions.count {
            let action = actions[place]
            place += 1
            switch action {
            case .settle(let node):
                store.steps[node].settle()
                var effects = decided { $0.settled(node, &$1) }
                actions += effects.actions
                effects.actions = []
                let next = perform(effects)
                if own == nil { own = next } else { begin(next) }
            case .notify(let node): Task.detached { await self.notify(node) }
            case .timer(let node): restartTimer(of: node)
            case .retry(let node): retry(node)
            case .ready, .stop, .ended: break
            }
        }
        return own
    }

    /// Tells the host of the graph's end, and then those who wait for it, who may start the next graph at once.
    private func finish(_ effects: inout Effects) {
        queue.remove(self)
        state.withLock { state in
            state.isOver = true
            effects.wake(&state.waiting)
            if state.abandoned == 0 { effects.wake(&state.draining) }
            publish(&state, &effects)
        }
    }

    func begin(_ node: ReadyNode?) {
        if let node { Worker.start(node) }
    }

    // MARK: Time

    /// Starts the time limit of an attempt.
    func time(_ step: GraphStep, _ attempt: UInt16) -> Task<Void, Never>? {
        guard let limit = step.options?.timeout else { return nil }
        return Task.detached {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            let failure = BackplaneError.late(step.name, in: self.name, after: limit)
            let retries = step.options?.retry.allows(after: Int(attempt), failure) ?? false
            self.change { scheduler, actions in
                guard scheduler.timedOut(Int(step.index), attempt: attempt, retries: retries, &actions) else { return }
                step.failure = failure
            }
        }
    }

    private func restartTimer(of node: Int) {
        _ = time(store.steps[node], state.withLock { $0.scheduler.nodes[node].attempt })
    }

    private func retry(_ node: Int) {
        let attempt = state.withLock { $0.scheduler.nodes[node].attempt }
        let retry = store.steps[node].options?.retry ?? .none
        let delay = retry.delay(after: Int(attempt), random: .random(in: 0..<1))
        Task.detached {
            try? await Task.sleep(for: delay)
            self.change { $0.due(node, after: attempt, &$1) }
        }
    }

    // MARK: Suspending

    /// The notifications that inform nodes that they are paused.
    struct PauseNotifications: Sendable {
        var current: Set<Int> = []
        /// The attempts that have been notified of their pause.
        var paused: [Int: UInt16] = [:]
    }

    /// Notifies a node's code of whether it is paused until the code is up to date; each node has at most one such
    /// task.
    private nonisolated(nonsending) func notify(_ node: Int) async {
        guard state.withLock({ $0.notifications.current.insert(node).inserted }) else { return }
        while let (attempt, isPaused) = nextNotification(of: node) {
            await store.steps[node].notify(attempt, isPaused: isPaused)
        }
    }

    private func nextNotification(of node: Int) -> (attempt: UInt16, isPaused: Bool)? {
        let (notification, effects) = state.withLock { state -> ((attempt: UInt16, isPaused: Bool)?, Effects) in
            let record = state.scheduler.nodes[node], isPaused = record.marks.contains(.held)
            guard record.phase == .running, isPaused != (state.notifications.paused[node] == record.attempt) else {
                state.notifications.current.remove(node)
                if record.phase != .running { state.notifications.paused[node] = nil }
                return (nil, decide(&state) { scheduler, _ in scheduler.suspended(node, attempt: record.attempt) })
            }
            state.notifications.paused[node] = isPaused ? record.attempt : nil
            return ((record.attempt, isPaused), Effects())
        }
        carryOut(effects)
        return notification
    }

    // MARK: Failures

    /// Sets the error that the dependents of an unsuccessful node receive; requires the lock.
    ///
    /// The error of a node that was not run is created on demand, because there may be very many of them.
    func knowFailure(of node: Int, _ scheduler: borrowing GraphScheduler) {
        let step = store.steps[node], record = scheduler.nodes[node]
        guard record.outcome != .succeeded, !step.isFailureKnown else { return }
        step.isFailureKnown = true
        if record.outcome == .cancelled {
            step.failure = BackplaneError.cancelled(step.name, in: name)
        } else if record.cause != node {
            knowFailure(of: Int(record.cause), scheduler)
            let root = store.steps[Int(record.cause)]
            guard let failure = root.failure else { return }
            step.failure = BackplaneError.unsatisfied(
                step.name, by: root.name, BackplaneError(thrown: failure), in: name)
        }
    }
}

/// A node that the queue has allowed to start.
struct ReadyNode: Sendable {
    let engine: GraphEngine
    let node: Int
    /// The number of the attempt, if it has already started.
    var attempt: UInt16?
}

/// A task that runs nodes one after another until none is left.
///
/// It runs no node after an abandoned one, because its task is then cancelled.
final class Worker: Sendable {
    /// The number of nodes after which the worker yields, because nodes that never wait would otherwise occupy a
    /// thread.
    private static let turn = 256

    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }
    private let state = Mutex(State())

    /// Starts a worker, which inherits nothing from the current task.
    static func start(_ first: ReadyNode) {
        let worker = Worker()
        let task = Task.detached { await worker.run(first) }
        let isCancelled = worker.state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func run(_ first: ReadyNode) async {
        var next: ReadyNode? = first, count = 0
        while let node = next {
            count += 1
            if count % Self.turn == 0 { await Task.yield() }
            next = await node.engine.run(node, on: self)
        }
    }

    /// Cancels the task of an abandoned node.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
