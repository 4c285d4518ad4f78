import Backplane
import Synchronization

// The standstill of a graph while its component is swapped.
extension GraphEngine {
    /// Starts no further nodes until ``goOn()`` is called.
    ///
    /// - Parameters:
    ///   - begins: Whether the graph is halted now; otherwise, it must be halted already.
    ///   - whenStill: A function that is called once: with `true` when no code of a node or a handler runs, or with
    ///     `false` if the graph continues before that.
    func hold(begins: Bool = true, _ whenStill: @escaping @Sendable (Bool) -> Void) {
        let (earlier, isStill) = state.withLock { state -> ((@Sendable (Bool) -> Void)?, Bool?) in
            if begins { state.scheduler.standsStill = true }
            guard state.scheduler.standsStill else { return (nil, false) }
            let earlier = state.whenStill.take()
            if state.isStill { return (earlier, true) }
            state.whenStill = whenStill
            return (earlier, nil)
        }
        earlier?(false)
        if let isStill { whenStill(isStill) }
    }

    /// Allows nodes to start again.
    func goOn() {
        state.withLock { $0.whenStill.take() }?(false)
        change { scheduler, actions in
            scheduler.standsStill = false
            for node in scheduler.nodes.indices { scheduler.announce(node, &actions) }
        }
    }

    /// Ends the graph in this generation, without calling handlers, because newer code continues it.
    ///
    /// Tasks that wait for a node that has not ended receive `call.retired`.
    func leave() {
        let (effects, whenStill) = state.withLock { state in
            var effects = Effects()
            guard !state.hasEnded else { return (effects, (@Sendable (Bool) -> Void)?.none) }
            // The code of its nodes that runs is not awaited by the graph any longer.
            state.abandoned += state.scheduler.nodes.count { $0.phase == .running }
            (effects.first, effects.rest) = queue.turn(freeing: state.scheduler.occupied)
            (state.hasLeft, state.hasEnded, state.isOver) = (true, true, true)
            effects.wake(&state.waiting)
            if state.abandoned == 0 { effects.wake(&state.draining) }
            for var watching in state.watching.values { effects.wake(&watching) }
            state.watching = [:]
            publish(&state, &effects)
            return (effects, state.whenStill.take())
        }
        whenStill?(false)
        carryOut(effects)
        queue.remove(self)
    }

    /// Schedules the notification that the graph is halted; requires the lock.
    func noteStandstill(_ state: inout State, _ effects: inout Effects) {
        if state.isStill { effects.whenStill = state.whenStill.take() }
    }
}

extension GraphEngine.State {
    /// A Boolean value that indicates whether the graph is to halt and none of its code is running.
    fileprivate var isStill: Bool { scheduler.standsStill && scheduler.busy == 0 && abandoned == 0 }
}
