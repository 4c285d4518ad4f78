import Backplane
import BackplaneBoundary

/// A node of the plan in force, and where it is in its life. Only the coordinator touches it.
final class LiveNode {
    enum State {
        case resolved
        case starting(Task<Result<RunningComponent, BackplaneError>, Never>)
        case ready(RunningComponent)
        /// Calls are let out, and then it stops.
        case quiescing(RunningComponent)
        case stopped
        /// It did not start.
        case failed(BackplaneError, during: Attempt)
        /// Something it needs did not start.
        case unsatisfied(BackplaneError, during: Attempt)
    }
    /// One round of starting, in which nothing is tried twice.
    typealias Attempt = Int

    /// Never that of another one.
    let id: Int
    /// Changes its place when another plan comes into force.
    var node: Plan.Node
    /// Where calls of it meet what changes behind it; a manager's stays when the manager is made anew.
    let gate: Gate
    var state = State.resolved
    /// A change has taken it, or is taking it, out of the plan.
    var leaves = false
    /// What the calls it makes have in their path, while it has one.
    var number: UInt16?
    /// A swap that failed had it suspended, gave up waiting for that, and resumes it once it has come back from the step.
    var isResumedLater = false
    /// Those that it cannot go on without while it starts.
    var awaited: [LiveNode] = []
    /// The managers it looked up, whose calls it may make until it ends.
    var found: [FoundWire: OpenWire] = [:]

    init(id: Int, _ node: Plan.Node, gate: Gate) {
        (self.id, self.node, self.gate) = (id, node, gate)
    }

    /// Whose calls come back to it while it stops.
    var passage: Set<UInt16> { number.map { [$0] } ?? [] }

    var running: RunningComponent? {
        if case .ready(let component) = state { component } else { nil }
    }

    /// It is up, or only about to stop.
    var callable: RunningComponent? {
        switch state {
        case .ready(let component), .quiescing(let component): component
        default: nil
        }
    }

    /// It stops, or has stopped.
    var isStopping: Bool {
        switch state {
        case .quiescing, .stopped: true
        default: false
        }
    }

    /// Is nothing that was asked of its instance before still under way?
    func isBetweenSteps(_ component: RunningComponent) -> Bool {
        !component.instance.isInStep && !isResumedLater
    }

    var startUnderWay: Task<Result<RunningComponent, BackplaneError>, Never>? {
        if case .starting(let task) = state { task } else { nil }
    }

    /// The error of a round of starting that has come by already.
    func failure(during attempt: Attempt) -> BackplaneError? {
        switch state {
        case .failed(let error, attempt), .unsatisfied(let error, attempt): error
        default: nil
        }
    }

    /// The way along those that wait for one another from this one to `node`; `nil`: there is none.
    func waits(for node: LiveNode) -> [LiveNode]? { waits { $0 === node } }

    /// The same to the first that is as wanted.
    func waits(where isWanted: (LiveNode) -> Bool) -> [LiveNode]? {
        var before: [Int: LiveNode] = [:]
        var (visited, waiting) = (Set([id]), [self])
        while let next = waiting.popLast() {
            if isWanted(next) { return sequence(first: next) { before[$0.id] }.reversed() }
            for awaited in next.awaited where visited.insert(awaited.id).inserted {
                before[awaited.id] = next
                waiting.append(awaited)
            }
        }
        return nil
    }
}

/// What a component looked up: a manager by name, by a contract as the component compiled it.
struct FoundWire: Hashable {
    var manager: String
    var contract: ContractDescription
    var layout: String?
}
