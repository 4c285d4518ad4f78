// The events by which a graph is controlled.
extension GraphScheduler {
    /// Cancels nodes that have not ended.
    ///
    /// Their dependents fail, unless they are cancelled as well.
    mutating func cancel(_ chosen: some Sequence<Int>, _ actions: inout [GraphAction]) {
        for node in chosen { cancel(node, &actions) }
        spread(&actions)
    }

    /// Cancels all nodes except pending finish nodes, which run once all other nodes have ended.
    mutating func cancelAll(_ actions: inout [GraphAction]) {
        for node in nodes.indices {
            if nodes[node].phase == .waiting, nodes[node].traits.contains(.finishes) {
                nodes[node].marks.remove(.held)
                show(node)
                announce(node, &actions)
            } else {
                cancel(node, &actions)
            }
        }
        spread(&actions)
    }

    /// Fails all nodes that have not ended, except pending finish nodes, none of which is running.
    ///
    /// Each counts as the cause of its own failure.
    mutating func failAll(_ actions: inout [GraphAction]) {
        for node in nodes.indices where nodes[node].phase == .waiting && !nodes[node].traits.contains(.finishes) {
            (nodes[node].outcome, nodes[node].cause) = (.failed, Int32(node))
            settle(node, &actions)
        }
        spread(&actions)
    }

    /// Takes over the states of a graph of the same shape, before this one is started.
    mutating func take(_ states: [Node]) {
        nodes = states
        remaining = 0
        for node in nodes.indices {
            if nodes[node].phase != .ended { remaining += 1 }
            nodes[node].missing = Int32(shape.needs[of: node].count(where: { nodes[$0.node].phase != .ended }))
            nodes[node].shown = nodes[node].state
        }
    }

    private mutating func cancel(_ node: Int, _ actions: inout [GraphAction]) {
        switch nodes[node].phase {
        case .settling, .ended: return
        case .running:
            actions.append(.stop(node))
            leave(node)
        case .waiting, .delayed, .returned: break
        }
        (nodes[node].outcome, nodes[node].cause) = (.cancelled, Int32(node))
        nodes[node].marks.subtract([.held, .doomed, .retries])
        settle(node, &actions)
    }

    /// Holds nodes that have not ended: they do not start, are suspended, or their results are held back.
    mutating func hold(_ chosen: some Sequence<Int>, _ actions: inout [GraphAction]) {
        for node in chosen {
            guard nodes[node].phase != .settling, nodes[node].phase != .ended else { continue }
            guard nodes[node].marks.insert(.held).inserted else { continue }
            if nodes[node].phase == .running, nodes[node].traits.contains(.suspends) { actions.append(.notify(node)) }
            show(node)
        }
    }

    /// Releases nodes that are held.
    mutating func release(_ chosen: some Sequence<Int>, _ actions: inout [GraphAction]) {
        for node in chosen where nodes[node].marks.remove(.held) != nil { released(node, &actions) }
        spread(&actions)
    }

    private mutating func released(_ node: Int, _ actions: inout [GraphAction]) {
        switch nodes[node].phase {
        case .waiting:
            if nodes[node].marks.contains(.doomed) { return settle(node, &actions) }
            announce(node, &actions)
        case .running:
            let wasPlaced = nodes[node].takesPlace
            nodes[node].marks.remove(.suspended)
            if !wasPlaced, nodes[node].takesPlace { occupied += 1 }
            if nodes[node].traits.contains(.suspends) { actions.append(.notify(node)) }
            if nodes[node].marks.remove(.late) != nil { actions.append(.timer(node)) }
        case .returned: return resolve(node, &actions)
        case .delayed, .settling, .ended: break
        }
        show(node)
    }

    /// Handles the report that a node's code has been suspended, so that another node may start.
    mutating func suspended(_ node: Int, attempt: UInt16) {
        guard nodes[node].phase == .running, nodes[node].attempt == attempt, nodes[node].marks.contains(.held),
            !nodes[node].marks.contains(.suspended)
        else { return }
        if nodes[node].takesPlace { occupied -= 1 }
        nodes[node].marks.insert(.suspended)
        show(node)
    }

    /// Raises the priority of nodes and of everything they depend on.
    mutating func raise(_ chosen: [Int], to priority: NodePriority, _ actions: inout [GraphAction]) {
        var rest = chosen
        while let node = rest.popLast() {
            guard nodes[node].phase != .ended, nodes[node].priority < priority else { continue }
            nodes[node].priority = priority
            // It is announced again: the queue asks for it earlier, and a second time in vain.
            if nodes[node].marks.contains(.announced) { actions.append(.ready(node, priority)) }
            for need in shape.needs[of: node] { rest.append(need.node) }
        }
    }
}
