import Foundation
import TestFixtures
import Testing

@testable import BackplaneOperations

/// All small graphs, and everything that can happen to them: a sample every night, and all with `make exhaustive`.
@Suite(.nightly, .timeLimit(.minutes(60)))
struct ExhaustiveTests {
    private static let isSample = ProcessInfo.processInfo.environment["BACKPLANE_EXHAUSTIVE"] == nil

    /// Returns a graph of a number of nodes, with an edge of some kind or none between each pair.
    private static func edges(_ count: Int, _ kinds: [EdgeKind], number: Int) -> [GraphShape.Edge] {
        var edges: [GraphShape.Edge] = [], rest = number
        for to in 0..<count {
            for from in 0..<to {
                let choice = rest % (kinds.count + 1)
                rest /= kinds.count + 1
                if choice > 0 { edges.append(.init(from: Int32(from), to: Int32(to), kind: kinds[choice - 1])) }
            }
        }
        return edges
    }

    private static func search(_ count: Int, _ kinds: [EdgeKind], _ scenario: GraphSearch.Scenario) throws -> Int {
        let pairs = count * (count - 1) / 2
        let graphs = (0..<pairs).reduce(1) { product, _ in product * (kinds.count + 1) }
        var states = 0
        // Of many graphs, the sample is the one with the most edges, in which the least can happen.
        let isPart = isSample && graphs > 1_000
        for number in stride(from: isPart ? graphs - 1 : 0, to: graphs, by: 1) {
            var search = GraphSearch(count, edges(count, kinds, number: number), scenario)
            try search.run()
            states += search.states
        }
        return states
    }

    @Test(arguments: GraphSearch.Scenario.all)
    func `all graphs of up to 4 nodes with edges of all kinds keep the invariants`(
        scenario: GraphSearch.Scenario
    ) throws {
        for count in 1...4 {
            let states = try Self.search(count, EdgeKind.allCases, scenario)
            #expect(states > 0)
        }
    }

    @Test(arguments: GraphSearch.Scenario.all.prefix(3))
    func `all graphs of 5 nodes with plain edges keep the invariants`(scenario: GraphSearch.Scenario) throws {
        #expect(try Self.search(5, [.plain], scenario) > 0)
    }
}

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

/// A graph and everything that has happened to it: a state of the search through all that can happen.
struct GraphWorld {
    /// The facts that the scheduler is judged by; it does not see them.
    struct History: Equatable {
        var begun = 0
        /// The number of attempts after which another one was promised.
        var promised = 0
        /// The reports that counted.
        var hasSucceeded = false
        var hasFailed = false
        var wasCancelled = false
        /// A Boolean value that indicates whether the node waited when everything was cancelled.
        var waitedWhenAllWereCancelled = false
        var handlersCalled = 0
        var state = NodeState.waiting
    }
    var scheduler: GraphScheduler
    var history: [History]
    /// The actions that are still to be carried out.
    var announced: [Int] = [], settling: [Int] = [], delayed: [Int] = []
    var ends = 0

    var shape: GraphShape { scheduler.shape }
    var nodes: [GraphScheduler.Node] { scheduler.nodes }

    func hasEnded(_ node: Int) -> Bool { nodes[node].phase == .ended }
    func isHeld(_ node: Int) -> Bool { nodes[node].isHeld }
    func isHandled(_ node: Int) -> Bool { nodes[node].hasHandlers }
    func isFinish(_ node: Int) -> Bool {
        let needs = shape.needs[of: node]
        return !needs.isEmpty && needs.allSatisfy { $0.kind == .always }
    }
}

/// The invariants of the scheduler. They hold after every event, in every graph, whatever happens in whatever order.
enum GraphInvariants {
    typealias Invariant = (name: String, holds: @Sendable (GraphWorld, Int) -> Bool)

    /// The invariants of a node that has just begun.
    static let ofBeginning: [Invariant] = [
        (
            "a node begins only when every plain need has succeeded",
            { world, node in
                world.shape.needs[of: node].allSatisfy { $0.kind != .plain || world.nodes[$0.node].state == .succeeded }
            }
        ),
        (
            "a node begins only when every need has ended",
            { world, node in
                world.shape.needs[of: node].allSatisfy { world.hasEnded($0.node) }
            }
        ),
        (
            "the handlers of a need were called before a dependent begins",
            { world, node in
                world.shape.needs[of: node].allSatisfy {
                    world.history[$0.node].handlersCalled == (world.isHandled($0.node) ? 1 : 0)
                }
            }
        ),
        ("a node that is held does not begin", { world, node in !world.isHeld(node) }),
        (
            "a node begins once, and once more for each further attempt that was promised",
            { world, node in
                world.history[node].begun == world.history[node].promised + 1
            }
        ),
        (
            "of the nodes that waited when everything was cancelled, only finish nodes begin",
            { world, node in
                !world.history[node].waitedWhenAllWereCancelled || world.isFinish(node)
            }
        ),
    ]

    /// The invariants of every node after every event.
    static let ofNodes: [Invariant] = [
        (
            "a node succeeds exactly if its report of success counted, and it was not cancelled",
            { world, node in
                guard world.hasEnded(node) else { return true }
                let history = world.history[node]
                return (world.nodes[node].state == .succeeded) == (history.hasSucceeded && !history.wasCancelled)
            }
        ),
        (
            "a node is cancelled exactly if it was told so",
            { world, node in
                !world.hasEnded(node) || (world.nodes[node].state == .cancelled) == world.history[node].wasCancelled
            }
        ),
        (
            "a node that failed without a report was not run, and needs one that failed or was cancelled",
            { world, node in
                guard world.nodes[node].state == .failed, !world.history[node].hasFailed else { return true }
                return world.history[node].begun == 0
                    && world.shape.needs[of: node].contains {
                        $0.kind == .plain && [.failed, .cancelled].contains(world.nodes[$0.node].state)
                    }
            }
        ),
        (
            "the cause of a failure is at its root: it failed by itself or was cancelled, and plain edges lead to it",
            { world, node in
                guard [.failed, .cancelled].contains(world.nodes[node].state) else { return true }
                let cause = Int(world.nodes[node].cause)
                let isRoot = world.history[cause].hasFailed || world.history[cause].wasCancelled
                return isRoot && reaches(world, from: node, to: cause)
            }
        ),
        (
            "a node that waits and is not held has no plain need that failed or was cancelled",
            { world, node in
                guard world.nodes[node].state == .waiting else { return true }
                return world.shape.needs[of: node].allSatisfy {
                    $0.kind != .plain || ![.failed, .cancelled].contains(world.nodes[$0.node].state)
                }
            }
        ),
        ("a node that is held has not ended", { world, node in !world.isHeld(node) || !world.hasEnded(node) }),
        (
            "handlers are called once, at the end",
            { world, node in
                world.history[node].handlersCalled == (world.hasEnded(node) && world.isHandled(node) ? 1 : 0)
            }
        ),
        (
            "the number of missing needs is that of needs that have not ended",
            { world, node in
                Int(world.nodes[node].missing) == world.shape.needs[of: node].count { !world.hasEnded($0.node) }
            }
        ),
        (
            "a state changes only along the ways that are described",
            { world, node in
                let (old, new) = (world.history[node].state, world.nodes[node].state)
                return old == new || ways[old, default: []].contains(new)
            }
        ),
        (
            "the state that was reported last is the present one",
            { world, node in
                world.nodes[node].shown == world.nodes[node].state
            }
        ),
    ]

    /// The invariants of the whole graph after every event.
    static let ofGraphs: [(name: String, holds: @Sendable (GraphWorld) -> Bool)] = [
        (
            "the number of places taken is that of nodes that run, are not suspended, and have not lent theirs",
            { world in
                world.scheduler.occupied == world.nodes.count { $0.phase == .running && $0.takesPlace }
            }
        ),
        (
            "the number of nodes left is that of nodes that have not ended",
            { world in
                world.scheduler.remaining == world.nodes.count { $0.phase != .ended }
            }
        ),
        (
            "the end is announced once, when every node has ended",
            { world in
                world.ends == (world.nodes.allSatisfy { $0.phase == .ended } ? 1 : 0)
            }
        ),
        (
            "unless something is held, runs, or is still to be done, every node has ended",
            { world in
                let isQuiet = world.announced.isEmpty && world.settling.isEmpty && world.delayed.isEmpty
                let isHeld = world.nodes.contains(where: \.isHeld)
                let runs = world.nodes.contains { $0.phase == .running }
                return !isQuiet || isHeld || runs || world.nodes.allSatisfy { $0.phase == .ended }
            }
        ),
    ]

    /// The ways from state to state.
    private static let ways: [NodeState: Set<NodeState>] = [
        .waiting: [.running, .paused, .failed, .cancelled],
        // It waits again before a further attempt.
        .running: [.waiting, .pausing, .succeeded, .failed, .cancelled],
        // It is shown as running again while its handlers are called.
        .pausing: [.running, .paused, .failed, .cancelled],
        .paused: [.waiting, .running, .succeeded, .failed, .cancelled],
    ]

    private static func reaches(_ world: GraphWorld, from node: Int, to cause: Int) -> Bool {
        node == cause
            || world.shape.needs[of: node].contains { $0.kind == .plain && reaches(world, from: $0.node, to: cause) }
    }
}
