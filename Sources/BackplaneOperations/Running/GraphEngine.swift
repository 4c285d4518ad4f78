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
    /// The properties by which newer code continues the graph; `nil` if it ends with this code.
    let naming: GraphNaming?
    /// A Boolean value that indicates whether the graph is a node of another one.
    let isPart: Bool
    let state: Mutex<State>

    struct State: Sendable {
        var scheduler: GraphScheduler
        /// The actions of one event, in memory that is reused.
        var actions: [GraphAction] = []
        /// The number of abandoned attempts whose code has not returned.
        var abandoned = 0
        /// A Boolean value that indicates whether every node has ended, or newer code has taken the graph over.
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
        /// The function that is called when the graph has been halted.
        var whenStill: (@Sendable (Bool) -> Void)?
        /// A Boolean value that indicates whether newer code has taken the graph over.
        var hasLeft = false

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
        /// The function to call because the graph has been halted.
        var whenStill: (@Sendable (Bool) -> Void)?

        mutating func wake(_ waiting: inout [UnsafeContinuation<Void, Never>]) {
            woken += waiting
            waiting = []
        }
    }

    init(
        _ name: String, _ store: StepStore, _ scheduler: consuming GraphScheduler, on queue: GraphQueue,
        _ naming: GraphNaming?, isPart: Bool
    ) {
        (self.name, self.store, self.queue, self.naming, self.isPart) = (name, store, queue, naming, isPart)
        state = Mutex(State(scheduler: scheduler))
    }

    /// A Boolean value that indicates whether the graph has ended, and the host knows.
    var isOver: Bool { state.withLock(\.isOver) }

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
                noteStandstill(&state, &effects)
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
        guard !state.hasLeft else { return effects }
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
        noteStandstill(&state, &effects)
        return effects
    }
}
