public import Backplane
import Synchronization

/// The shell around the scheduler of one graph, which performs the scheduler's decisions.
///
/// Decisions are made while a lock is held; code of nodes and handlers runs without it. The lock of the graph is
/// acquired before the lock of the queue.
final class GraphEngine: Sendable {
    let name: String
    let queue: GraphQueue
    let store: StepStore
    let state: Mutex<State>

    struct State: Sendable {
        var scheduler: GraphScheduler
        /// The number of abandoned attempts whose code has not returned.
        var abandoned = 0
        /// The graph's number in the host.
        var number: UInt64?
        /// A Boolean value that indicates whether changes are reported to the host.
        var isFollowed = false
        /// A Boolean value that indicates whether the end was reported to the host, so that the next graph may start.
        ///
        /// Tasks that wait for the end are resumed only afterwards.
        var isOver = false
        /// The tasks that wait for the end of the graph, and optionally for its code to return.
        var ends: [(drained: Bool, task: UnsafeContinuation<Void, Never>)] = []
        /// The tasks that wait for a change of a node.
        var waits: [Int32: [Wait]] = [:]
        /// The subscribers, keyed by the order of their subscription.
        var feeds: [Int: AsyncStream<GraphEvent>.Continuation] = [:]
        var lastFeed = 0

        /// Makes the scheduler collect changes while there are subscribers.
        mutating func observe() { scheduler.isObserved = isFollowed || !feeds.isEmpty || !waits.isEmpty }

        /// Removes and returns the tasks whose condition is now met.
        mutating func takeEnds() -> [UnsafeContinuation<Void, Never>] {
            guard isOver else { return [] }
            let isDrained = abandoned == 0
            defer { ends.removeAll { isDrained || !$0.drained } }
            return ends.filter { isDrained || !$0.drained }.map(\.task)
        }
    }

    struct Wait: Sendable {
        let isMet: @Sendable (GraphScheduler.Node) -> Bool
        let task: UnsafeContinuation<Void, Never>
    }

    /// The consequences of an event, to be performed outside the lock.
    struct Effects {
        /// The nodes to start.
        var first: ReadyNode?
        var rest: [ReadyNode] = []
        /// The actions that take time or run code.
        var actions: [GraphScheduler.Action] = []
        var stopped: [Worker] = []
        var woken: [UnsafeContinuation<Void, Never>] = []
        /// The graph's number, if changes of its nodes are to be reported to the host.
        var changed: UInt64?
        var hasEnded = false
    }

    init(_ graph: borrowing OperationGraph<some Sendable>, on queue: GraphQueue) {
        let store = graph.store
        (name, self.store, self.queue) = (graph.name, store, queue)
        state = Mutex(State(scheduler: GraphScheduler(graph.shape) { store.steps[$0].hasHandlers }))
    }

    // MARK: Events

    /// Passes an event to the scheduler, and performs its decisions.
    func change(_ event: (inout GraphScheduler) -> Void) { carryOut(decide(event)) }

    /// Passes an event to the scheduler; its effects are for ``carryOut(_:)``.
    func decide(_ event: (inout GraphScheduler) -> Void) -> Effects { state.withLock { decide(&$0, event) } }

    func carryOut(_ effects: Effects) {
        if let node = perform(effects) { Worker.start(node) }
    }

    /// Starts an attempt at a node and runs it.
    ///
    /// - Returns: The node to run instead of this one.
    nonisolated(nonsending) func run(_ node: Int, on worker: Worker) async -> ReadyNode? {
        let step = store.steps[node]
        let (attempt, effects) = state.withLock { state -> (UInt16?, Effects) in
            var effects = Effects()
            let attempt = state.scheduler.begin(node)
            if attempt == nil {
                (effects.first, effects.rest) = queue.turn(freeing: 1)
            } else {
                step.worker = worker
                for need in state.scheduler.shape.needs[of: node] where need.kind != .plain {
                    knowFailure(of: need.node, state.scheduler)
                }
                publish(&state, &effects)
            }
            return (attempt, effects)
        }
        let next = perform(effects)
        guard let attempt else { return next }
        let timer = time(step, attempt)
        defer { timer?.cancel() }
        return await step.attempt(attempt, on: self)
    }

    /// Handles the report of an attempt that has returned or failed.
    ///
    /// - Returns: The node to run instead of this one.
    func report<Output>(
        _ step: TypedStep<Output>, _ status: NodeStatus, _ result: Result<Output, any Error>
    ) -> ReadyNode? {
        var value: Output?, failure: BackplaneError?
        switch result {
        case .success(let returned): value = returned
        case .failure(let error): failure = BackplaneError(thrown: error)
        }
        let retries = failure.map { step.options?.retry.allows(after: status.attempt, $0) ?? false } ?? false
        let effects = state.withLock { state in
            var isAwaited = false
            var effects = decide(&state) { scheduler in
                isAwaited = scheduler.returned(
                    Int(step.index), attempt: UInt16(status.attempt), failure == nil ? .succeeded : .failed,
                    retries: retries)
                if isAwaited { (step.worker, step.status, step.value, step.failure) = (nil, status, value, failure) }
            }
            if !isAwaited {
                state.abandoned -= 1
                effects.woken += state.takeEnds()
            }
            return effects
        }
        return perform(effects)
    }

    // MARK: Behind the lock

    private func decide(_ state: inout State, _ event: (inout GraphScheduler) -> Void) -> Effects {
        var effects = Effects()
        let before = state.scheduler.occupied
        event(&state.scheduler)
        let freed = before - state.scheduler.occupied
        if freed != 0 || !state.scheduler.actions.isEmpty {
            (effects.first, effects.rest) = queue.turn(freeing: freed) { places in
                for case .ready(let node) in state.scheduler.actions {
                    places.add(ReadyNode(engine: self, node: node), store.steps[node].options?.priority ?? .normal)
                }
            }
        }
        for action in state.scheduler.actions {
            switch action {
            case .ready: break
            case .stop(let node):
                state.abandoned += 1
                if let worker = store.steps[node].worker.take() { effects.stopped.append(worker) }
            case .settle(let node):
                knowFailure(of: node, state.scheduler)
                effects.actions.append(action)
            case .retry: effects.actions.append(action)
            case .ended: effects.hasEnded = true
            }
        }
        state.scheduler.actions.removeAll(keepingCapacity: state.scheduler.actions.count <= 1_024)
        publish(&state, &effects)
        return effects
    }

    /// Passes state changes to subscribers; requires the lock.
    private func publish(_ state: inout State, _ effects: inout Effects) {
        guard !state.scheduler.changes.isEmpty else { return }
        for (number, shown) in state.scheduler.changes {
            let node = Int(number)
            for feed in state.feeds.values {
                feed.yield(GraphEvent(node: node, name: store.steps[node].name, state: shown))
            }
            guard let waits = state.waits.removeValue(forKey: number) else { continue }
            let record = state.scheduler.nodes[node], rest = waits.filter { !$0.isMet(record) }
            effects.woken += waits.filter { $0.isMet(record) }.map(\.task)
            if !rest.isEmpty { state.waits[number] = rest }
        }
        if state.isFollowed { effects.changed = state.number }
        state.scheduler.changes.removeAll(keepingCapacity: true)
        state.observe()
    }

    /// Sets the error that the dependents of an unsuccessful node receive; requires the lock.
    ///
    /// The error of a node that was not run is created on demand, because there may be very many of them.
    private func knowFailure(of node: Int, _ scheduler: borrowing GraphScheduler) {
        let step = store.steps[node], record = scheduler.nodes[node]
        guard record.outcome != .succeeded, !step.isFailureKnown else { return }
        step.isFailureKnown = true
        if record.outcome == .cancelled {
            step.failure = BackplaneError(.callCancelled, "`\(step.name)` was cancelled", at: name)
        } else if record.cause != node {
            knowFailure(of: Int(record.cause), scheduler)
            let root = store.steps[Int(record.cause)]
            guard let failure = root.failure else { return }
            let cause = BackplaneError(thrown: failure)
            step.failure = BackplaneError(
                .operationUnsatisfied, "`\(step.name)` was not run, because it needs `\(root.name)`: \(cause.message)",
                at: name, causes: [cause])
        }
    }

    // MARK: Outside the lock

    /// Performs the effects of an event, and the effects of all resulting events.
    ///
    /// - Returns: The node to run next on the worker that reported the event, or on a new one.
    private func perform(_ first: Effects) -> ReadyNode? {
        var effects = first, own: ReadyNode?, actions: [GraphScheduler.Action] = [], place = 0
        while true {
            if own == nil { own = effects.first.take() }
            if let node = effects.first { Worker.start(node) }
            for node in effects.rest { Worker.start(node) }
            if let number = effects.changed { queue.host?.changed(number) }
            if effects.hasEnded { finish(&effects) }
            for task in effects.woken { task.resume() }
            for worker in effects.stopped { worker.cancel() }
            actions += effects.actions
            guard place < actions.count else { return own }
            effects = perform(actions[place])
            place += 1
        }
    }

    private func perform(_ action: GraphScheduler.Action) -> Effects {
        switch action {
        case .settle(let node):
            store.steps[node].settle()
            return decide { $0.settled(node) }
        case .retry(let node):
            let attempt = state.withLock { $0.scheduler.nodes[node].attempt }
            let delay = store.steps[node].options?.retry.delay(after: Int(attempt), random: .random(in: 0..<1))
            Task.detached {
                try? await Task.sleep(for: delay ?? .zero)
                self.change { $0.due(node, after: attempt) }
            }
        case .ready, .stop, .ended: break
        }
        return Effects()
    }

    /// Reports the graph's end to the host, and then resumes the tasks that wait for it and may start the next graph.
    private func finish(_ effects: inout Effects) {
        queue.remove(self)
        if let number = state.withLock(\.number) { queue.host?.end(number) }
        let feeds = state.withLock { state in
            state.isOver = true
            effects.woken += state.takeEnds()
            return state.feeds.values
        }
        for feed in feeds { feed.finish() }
    }

    /// Starts the time limit of an attempt; if it expires while the node is paused, it starts over on resumption.
    private func time(_ step: GraphStep, _ attempt: UInt16) -> Task<Void, Never>? {
        guard let options = step.options, let limit = options.timeout else { return nil }
        let failure = BackplaneError(
            .operationTimeout, "`\(step.name)` did not return within \(limit), its time limit", at: name)
        return Task.detached {
            while (try? await Task.sleep(for: limit)) != nil {
                let retries = options.retry.allows(after: Int(attempt), failure)
                self.change { scheduler in
                    guard scheduler.timedOut(Int(step.index), attempt: attempt, retries: retries) else { return }
                    (step.failure, step.status) = (failure, NodeStatus(attempt: Int(attempt)))
                }
                guard await self.reaches(isHeld: false, Int(step.index), attempt) else { return }
            }
        }
    }

    // MARK: Waiting

    /// Waits until every node has ended, and optionally until the code of abandoned nodes has returned.
    nonisolated(nonsending) func end(drained: Bool = false) async {
        await withUnsafeContinuation { task in
            let ended = state.withLock { state in
                state.ends.append((drained, task))
                return state.takeEnds()
            }
            for task in ended { task.resume() }
        }
    }

    /// Waits until a condition of a node is met.
    nonisolated(nonsending) func wait(
        for node: Int, until isMet: @escaping @Sendable (GraphScheduler.Node) -> Bool
    ) async {
        await withUnsafeContinuation { task in
            let isMetAlready = state.withLock { state in
                if isMet(state.scheduler.nodes[node]) { return true }
                state.waits[Int32(node), default: []].append(Wait(isMet: isMet, task: task))
                state.observe()
                return false
            }
            if isMetAlready { task.resume() }
        }
    }

    /// Waits until a node is held or no longer held; returns `false` if its attempt no longer runs.
    nonisolated(nonsending) func reaches(isHeld: Bool, _ node: Int, _ attempt: UInt16) async -> Bool {
        await wait(for: node) { !$0.isRunning(attempt) || $0.isHeld == isHeld }
        return state.withLock { $0.scheduler.nodes[node].isRunning(attempt) }
    }

    /// Returns the result of a node that has ended.
    func result<Output>(of step: TypedStep<Output>) -> Result<Output, BackplaneError> {
        state.withLock { state in
            knowFailure(of: Int(step.index), state.scheduler)
            return step.result
        }
    }

    /// Subscribes to the changes; the current state of each node comes first.
    func subscribe() -> AsyncStream<GraphEvent> {
        let (stream, feed) = AsyncStream.makeStream(of: GraphEvent.self)
        let isOver = state.withLock { state in
            for (node, record) in state.scheduler.nodes.enumerated() {
                feed.yield(GraphEvent(node: node, name: store.steps[node].name, state: record.shown))
            }
            guard !state.isOver else { return true }
            state.lastFeed += 1
            state.feeds[state.lastFeed] = feed
            state.observe()
            feed.onTermination = { [weak self, number = state.lastFeed] _ in
                self?.state.withLock { state in
                    state.feeds[number] = nil
                    state.observe()
                }
            }
            return false
        }
        if isOver { feed.finish() }
        return stream
    }
}

/// A node that the queue has allowed to start.
struct ReadyNode: Sendable {
    let engine: GraphEngine
    let node: Int
}

/// A task that runs nodes one after another until none is left.
///
/// After an abandoned node it runs no other, because its task is then cancelled.
final class Worker: Sendable {
    /// The number of nodes after which the worker yields, because nodes that never wait would otherwise occupy a
    /// thread.
    private static let turn = 256
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts a worker, which inherits nothing from the current task.
    static func start(_ first: ReadyNode) {
        let worker = Worker()
        worker.task.withLock { $0 = Task.detached { await worker.run(first) } }
    }

    private func run(_ first: ReadyNode) async {
        var next: ReadyNode? = first, count = 0
        while let node = next {
            count += 1
            if count % Self.turn == 0 { await Task.yield() }
            next = await node.engine.run(node.node, on: self)
        }
    }

    /// Cancels the task of an abandoned node.
    func cancel() { task.withLock(\.self)?.cancel() }
}

extension BackplaneError.Code {
    /// The nodes of a graph wait for each other in a cycle.
    public static let operationCycle = Self(rawValue: "operation.cycle")
    /// A graph cannot be built or started as described.
    public static let operationRefused = Self(rawValue: "operation.refused")
    /// A node was not run because a node that it needs failed or was cancelled.
    public static let operationUnsatisfied = Self(rawValue: "operation.unsatisfied")
    /// A node did not return within its time limit.
    public static let operationTimeout = Self(rawValue: "operation.timeout")
    /// The work of a node was dropped without being run.
    public static let operationAbandoned = Self(rawValue: "operation.abandoned")
}
