@testable import BackplaneOperations

/// A search through everything that can happen to one graph, in every order.
struct GraphSearch {
    /// The events that people and time may add to what the nodes do.
    struct Scenario: CustomStringConvertible {
        var description: String
        /// The number of events of each kind on one way.
        var cancellations = 0, pauses = 0, timeouts = 0, retries = 0
        var hasHandlers = false, suspends = false, lends = false

        static let all = [
            Scenario(description: "failures and a further attempt", retries: 1),
            Scenario(description: "a cancellation", cancellations: 1),
            Scenario(description: "a pause", pauses: 1),
            Scenario(description: "a cancellation and a pause", cancellations: 1, pauses: 1),
            Scenario(
                description: "a cancellation and a pause of nodes with handlers", cancellations: 1, pauses: 1,
                hasHandlers: true),
            Scenario(
                description: "a time limit and a pause of nodes that are suspended", pauses: 1, timeouts: 1, retries: 1,
                suspends: true),
            Scenario(
                description: "a cancellation and a pause of nodes that run graphs", cancellations: 1, pauses: 1,
                suspends: true, lends: true),
        ]
    }

    enum Event: Equatable {
        case begin(Int), succeed(Int), fail(Int), failOnce(Int), settle(Int), due(Int), suspend(Int), lend(Int),
            timeOut(Int)
        case cancel(Int), hold(Int), release(Int), cancelAll, holdAll, releaseAll
    }

    struct Violation: Error, CustomStringConvertible {
        var invariant: String, graph: String, scenario: String, events: [Event]
        var description: String { "\(invariant): graph \(graph), \(scenario), after \(events)" }
    }

    private let scenario: Scenario
    private let graph: String
    private let start: GraphWorld
    private(set) var states = 0

    init(_ count: Int, _ edges: [GraphShape.Edge], _ scenario: Scenario) {
        self.scenario = scenario
        graph = "of \(count): " + edges.map { "\($0.from) \($0.kind) \($0.to)" }.joined(separator: ", ")
        let scheduler = GraphScheduler(GraphShape(count, edges)) { _ in scenario.hasHandlers }
        start = GraphWorld(scheduler: scheduler, history: Array(repeating: .init(), count: count))
    }

    /// Searches from the start, each state once.
    mutating func run() throws {
        var seen: Set<[UInt64]> = [], world = start
        world.scheduler.start()
        takeActions(of: &world)
        try check(world, [])
        var rest = [(world, scenario, [Event]())]
        while let (world, budget, events) = rest.popLast() {
            guard seen.insert(key(world, budget)).inserted else { continue }
            for event in Self.events(world, budget) {
                var next = world, budget = budget
                let way = events + [event]
                try happen(event, in: &next, &budget, way)
                rest.append((next, budget, way))
            }
        }
        states = seen.count
    }

    private static func events(_ world: GraphWorld, _ budget: Scenario) -> [Event] {
        var events = world.announced.map(Event.begin) + world.settling.map(Event.settle) + world.delayed.map(Event.due)
        for node in world.nodes.indices {
            let isHeld = world.isHeld(node)
            if world.nodes[node].phase == .running {
                events += [.succeed(node), .fail(node)]
                if budget.retries > 0 { events.append(.failOnce(node)) }
                if budget.timeouts > 0 { events.append(.timeOut(node)) }
                let marks = world.nodes[node].marks
                if isHeld, budget.suspends, !marks.contains(.suspended) { events.append(.suspend(node)) }
                if budget.lends, !marks.contains(.lent) { events.append(.lend(node)) }
            }
            if isHeld { events.append(.release(node)) }
            if world.hasEnded(node) || world.nodes[node].phase == .settling { continue }
            if budget.cancellations > 0 { events.append(.cancel(node)) }
            if budget.pauses > 0, !isHeld { events.append(.hold(node)) }
        }
        if budget.cancellations > 0 { events.append(.cancelAll) }
        if budget.pauses > 0 { events.append(.holdAll) }
        if world.nodes.indices.contains(where: world.isHeld) { events.append(.releaseAll) }
        return events
    }

    private func happen(
        _ event: Event, in world: inout GraphWorld, _ budget: inout Scenario, _ events: [Event]
    ) throws {
        var begun: Int?
        func attempt(_ node: Int) -> UInt16 { world.nodes[node].attempt }
        for node in world.nodes.indices { world.history[node].state = world.nodes[node].state }
        switch event {
        case .begin(let node):
            world.announced.removeAll { $0 == node }
            if world.scheduler.begin(node) != nil {
                begun = node
                world.history[node].begun += 1
            }
        case .succeed(let node):
            if world.scheduler.returned(node, attempt: attempt(node), .succeeded, retries: false) {
                world.history[node].hasSucceeded = true
            }
        case .fail(let node):
            if world.scheduler.returned(node, attempt: attempt(node), .failed, retries: false) {
                world.history[node].hasFailed = true
            }
        case .failOnce(let node):
            budget.retries -= 1
            if world.scheduler.returned(node, attempt: attempt(node), .failed, retries: true) {
                world.history[node].promised += 1
            }
        case .timeOut(let node):
            budget.timeouts -= 1
            if world.scheduler.timedOut(node, attempt: attempt(node), retries: false) {
                world.history[node].hasFailed = true
            }
        case .settle(let node):
            world.settling.removeAll { $0 == node }
            world.history[node].handlersCalled += 1
            world.scheduler.settled(node)
        case .due(let node):
            world.delayed.removeAll { $0 == node }
            world.scheduler.due(node, after: attempt(node))
        case .lend(let node): world.scheduler.lend(node, attempt: attempt(node))
        case .suspend(let node): world.scheduler.suspended(node, attempt: attempt(node))
        case .cancel(let node):
            budget.cancellations -= 1
            world.history[node].wasCancelled = true
            world.scheduler.cancel([node])
        case .cancelAll:
            budget.cancellations -= 1
            for node in world.nodes.indices where !world.hasEnded(node) && world.nodes[node].phase != .settling {
                let waits = world.nodes[node].phase == .waiting
                world.history[node].waitedWhenAllWereCancelled = waits
                if !waits || !world.isFinish(node) { world.history[node].wasCancelled = true }
            }
            world.scheduler.cancelAll()
        case .hold(let node):
            budget.pauses -= 1
            world.scheduler.hold([node])
        case .holdAll:
            budget.pauses -= 1
            world.scheduler.hold(world.nodes.indices)
        case .release(let node): world.scheduler.release([node])
        case .releaseAll: world.scheduler.release(world.nodes.indices)
        }
        takeActions(of: &world)
        if let begun {
            for invariant in GraphInvariants.ofBeginning where !invariant.holds(world, begun) {
                throw violation(invariant.name, events)
            }
        }
        try check(world, events)
    }

    private func takeActions(of world: inout GraphWorld) {
        for action in world.scheduler.actions {
            switch action {
            case .ready(let node): world.announced.append(node)
            case .settle(let node): world.settling.append(node)
            case .retry(let node): world.delayed.append(node)
            case .ended: world.ends += 1
            case .stop: break
            }
        }
        world.scheduler.actions = []
        // Their order makes no difference to what can happen next.
        world.announced.sort()
        world.settling.sort()
        world.delayed.sort()
    }

    private func check(_ world: GraphWorld, _ events: [Event]) throws {
        for node in world.nodes.indices {
            for invariant in GraphInvariants.ofNodes where !invariant.holds(world, node) {
                throw violation("node \(node): \(invariant.name)", events)
            }
        }
        for invariant in GraphInvariants.ofGraphs where !invariant.holds(world) {
            throw violation(invariant.name, events)
        }
    }

    private func violation(_ invariant: String, _ events: [Event]) -> Violation {
        Violation(invariant: invariant, graph: graph, scenario: scenario.description, events: events)
    }

    /// Returns what makes two states the same.
    private func key(_ world: GraphWorld, _ budget: Scenario) -> [UInt64] {
        var key: [UInt64] = [
            UInt64(budget.cancellations) | UInt64(budget.pauses) << 8 | UInt64(budget.timeouts) << 16
                | UInt64(budget.retries) << 24
        ]
        for (node, history) in zip(world.nodes, world.history) {
            var bits = UInt64(node.phase.rawValue) | UInt64(node.outcome.rawValue) << 4
            bits |= UInt64(node.marks.rawValue) << 8 | UInt64(node.attempt) << 16
            bits |= UInt64(UInt8(truncatingIfNeeded: node.cause)) << 32
            bits |= UInt64(history.begun) << 40 | UInt64(history.promised) << 44
            bits |= (history.hasSucceeded ? 1 : 0) << 48 | (history.hasFailed ? 1 : 0) << 49
            bits |= (history.wasCancelled ? 1 : 0) << 50 | (history.waitedWhenAllWereCancelled ? 1 : 0) << 51
            bits |= UInt64(history.handlersCalled) << 52
            key.append(bits)
        }
        key.append(world.announced.reduce(0) { $0 << 4 | UInt64($1 + 1) })
        key.append(world.settling.reduce(0) { $0 << 4 | UInt64($1 + 1) })
        key.append(world.delayed.reduce(0) { $0 << 4 | UInt64($1 + 1) })
        return key
    }
}
