@testable import BackplaneOperations

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
