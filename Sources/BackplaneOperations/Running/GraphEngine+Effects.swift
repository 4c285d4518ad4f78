import Backplane
import Synchronization

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
        effects.whenStill?(true)
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
