import Backplane
import Synchronization

// The tasks that wait for a graph, and its subscribers.
extension GraphEngine {
    /// Passes state changes to the subscribers; requires the lock.
    func publish(_ state: inout State, _ effects: inout Effects) {
        guard state.scheduler.isObserved else { return }
        for change in state.scheduler.changes {
            for feed in state.feeds.indices { state.feeds[feed].note(change) }
            guard change.state.hasEnded, var watching = state.watching.removeValue(forKey: change.node) else {
                continue
            }
            effects.wake(&watching)
        }
        state.scheduler.changes.removeAll(keepingCapacity: true)
        for feed in state.feeds.indices {
            guard let reader = state.feeds[feed].reader else { continue }
            let change = state.feeds[feed].next(state.scheduler)
            guard change != nil || state.isOver else { continue }
            state.feeds[feed].reader = nil
            effects.read.append((reader, change))
        }
        state.observe()
    }

    // MARK: Ends

    /// Waits until every node has ended.
    nonisolated(nonsending) func end() async {
        await wait { state, waiting in
            if !state.isOver { state.waiting.append(waiting) }
            return state.isOver
        }
    }

    /// Waits until every node has ended, and the code of abandoned nodes has returned.
    nonisolated(nonsending) func drained() async {
        await wait { state, waiting in
            let isDrained = state.isOver && state.abandoned == 0
            if !isDrained { state.draining.append(waiting) }
            return isDrained
        }
    }

    /// Waits until a node has ended, or the graph has left for newer code.
    nonisolated(nonsending) func end(of node: Int) async {
        await wait { state, waiting in
            let hasEnded = state.hasLeft || state.scheduler.nodes[node].phase == .ended
            if !hasEnded {
                state.watching[Int32(node), default: []].append(waiting)
                state.observe()
            }
            return hasEnded
        }
    }

    private nonisolated(nonsending) func wait(
        _ begin: @Sendable (inout State, UnsafeContinuation<Void, Never>) -> Bool
    ) async {
        await withUnsafeContinuation { waiting in
            if state.withLock({ begin(&$0, waiting) }) { waiting.resume() }
        }
    }

    /// Returns the result of a node that has ended.
    func result<Output>(of step: TypedStep<Output>) -> Result<Output, BackplaneError> {
        state.withLock { state in
            let index = Int(step.index)
            if state.hasLeft, state.scheduler.nodes[index].phase != .ended {
                return .failure(BackplaneError.continued(step.name, in: name))
            }
            knowFailure(of: index, state.scheduler)
            let node = state.scheduler.nodes[index]
            if step.value == nil, node.phase == .ended, node.outcome == .succeeded {
                return .failure(BackplaneError.notSaved(step.name, in: name))
            }
            return step.result
        }
    }

    // MARK: Feeds

    func subscribe() -> Int {
        state.withLock { state in
            state.lastFeed += 1
            state.feeds.append(EventFeed(id: state.lastFeed))
            state.observe()
            return state.lastFeed
        }
    }

    func unsubscribe(_ feed: Int) {
        let reader = state.withLock { state in
            defer { state.observe() }
            return state.feeds.firstIndex { $0.id == feed }.map { state.feeds.remove(at: $0).reader } ?? nil
        }
        reader?.resume(returning: nil)
    }

    /// Waits for the next change of a feed, and returns it; returns `nil` after the end, or if the feed is no longer
    /// read.
    nonisolated(nonsending) func next(of feed: Int) async -> NodeChange? {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { reader in
                let (isOver, change) = state.withLock { state -> (Bool, NodeChange?) in
                    guard let feed = state.feeds.firstIndex(where: { $0.id == feed }), !Task.isCancelled else {
                        return (true, nil)
                    }
                    if let change = state.feeds[feed].next(state.scheduler) { return (true, change) }
                    if !state.isOver { state.feeds[feed].reader = reader }
                    return (state.isOver, nil)
                }
                if isOver { reader.resume(returning: change) }
            }
        } onCancel: {
            unsubscribe(feed)
        }
    }
}
