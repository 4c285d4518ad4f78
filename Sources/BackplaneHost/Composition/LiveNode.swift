import Backplane

/// A node of the active plan and its current state, used only by the coordinator.
final class LiveNode {
    enum State {
        case resolved
        case starting(Task<Result<RunningComponent, BackplaneError>, Never>)
        case ready(RunningComponent)
        /// The component is waiting for calls in flight to end before it stops.
        case quiescing(RunningComponent)
        case stopped
        case failed(BackplaneError, during: Attempt)
        /// A component that this one needs did not start.
        case unsatisfied(BackplaneError, during: Attempt)
    }
    /// The number of a round of starts, in which no node is tried twice.
    typealias Attempt = Int

    /// The node's id, which is never reused.
    let id: Int
    /// The definition of the component, whose position changes when another plan becomes active.
    var node: Plan.Node
    /// The gate through which the component is called; a manager's gate remains when the manager is recreated.
    let gate: Gate
    var state = State.resolved
    /// The number that identifies the component in the path of calls, while it has one.
    var number: UInt16?
    /// Whether the component is resumed once its `suspend` returns, because `suspend` has timed out in a failed swap.
    var isResumedLater = false
    /// The nodes for which this one waits while it starts.
    var awaited: [LiveNode] = []
    /// The wires to managers that the component has looked up, valid until it ends.
    var found: [FoundWire: OpenWire] = [:]

    init(id: Int, _ node: Plan.Node, gate: Gate) {
        (self.id, self.node, self.gate) = (id, node, gate)
    }

    /// The components whose calls may return to this one while it stops: only the component itself.
    var passage: Set<UInt16> { number.map { [$0] } ?? [] }

    var running: RunningComponent? {
        if case .ready(let component) = state { component } else { nil }
    }

    /// The component if it is running or only about to stop.
    var callable: RunningComponent? {
        switch state {
        case .ready(let component), .quiescing(let component): component
        default: nil
        }
    }

    var isStopping: Bool {
        switch state {
        case .quiescing, .stopped: true
        default: false
        }
    }

    /// Returns whether no step of the instance is in progress or pending.
    func isBetweenSteps(_ component: RunningComponent) -> Bool {
        !component.instance.isInStep && !isResumedLater
    }

    var startUnderWay: Task<Result<RunningComponent, BackplaneError>, Never>? {
        if case .starting(let task) = state { task } else { nil }
    }

    /// Returns the error of a start that failed in this round.
    func failure(during attempt: Attempt) -> BackplaneError? {
        switch state {
        case .failed(let error, attempt), .unsatisfied(let error, attempt): error
        default: nil
        }
    }

    /// Returns the path of waiting nodes from this one to `node`, or `nil` if there is none.
    func waits(for node: LiveNode) -> [LiveNode]? {
        var before: [Int: LiveNode] = [:]
        var (visited, waiting) = (Set([id]), [self])
        while let next = waiting.popLast() {
            if next === node { return sequence(first: next) { before[$0.id] }.reversed() }
            for awaited in next.awaited where visited.insert(awaited.id).inserted {
                before[awaited.id] = next
                waiting.append(awaited)
            }
        }
        return nil
    }
}

/// The key of a lookup: a manager's name, and a contract as the component compiled it.
struct FoundWire: Hashable {
    var manager: String
    var contract: ContractDescription
    var layout: String?
}

final class RunningComponent: Sendable {
    /// The component's definition at the time it started.
    let node: Plan.Node
    /// The component's class, whose plugin may now have another position in the active manifest.
    let type: ComponentClass
    /// The plugin whose code runs in the instance.
    let plugin: LoadedPlugin
    let gate: Gate
    let instance: ComponentInstance
    let calls: ComponentCalls
    let timers: ComponentTimers
    /// The target of the encoded cells of wires to the component.
    let target: EncodedTarget
    let handle: UInt64
    /// The number that identifies the component as a caller.
    let number: UInt16
    /// The location of its data if it is a data access controller.
    let dataPlace: String?

    var streams: ComponentStreams { calls.streams }

    var name: String { node.name }

    init(
        node: Plan.Node, _ type: ComponentClass, of plugin: LoadedPlugin, number: UInt16, gate: Gate,
        instance: ComponentInstance, handle: UInt64, dataPlace: String?, timers: ComponentTimers,
        _ consumers: StreamConsumers, clock: any HostClock
    ) {
        (self.plugin, self.number, self.dataPlace) = (plugin, number, dataPlace)
        (self.node, self.type, self.gate, self.instance, self.handle) = (node, type, gate, instance, handle)
        calls = ComponentCalls(
            instance, name: node.name, methods: node.entry.component.contract?.methods ?? [], consumers, clock: clock)
        target = EncodedTarget(keeping: calls)
        self.timers = timers
        timers.attach(calls)
    }

    /// The number of failed calls of this instance, not including cancelled ones; do not use it after the release.
    var failures: Int { Int(clamping: instance.failures) + calls.failures }

    /// The last error of this instance's calls and streams; do not use it after the release.
    var lastFailure: FailureStatistics? {
        let native = instance.lastFailure.map { CallAccount.LastFailure($0.answer, at: $0.time).statistics }
        guard let native, let encoded = calls.lastFailure else { return native ?? calls.lastFailure }
        return native.time > encoded.time ? native : encoded
    }

    /// Adds the failures of this instance to those of its gate, before it is released.
    func settle() {
        gate.note(failures: failures, last: lastFailure)
        calls.endAccount()
    }

    var hasCalls: Bool { calls.callsInFlight > 0 || timers.isBusy }

    /// Answers the calls in flight because the host stops, and cancels them in the plugin.
    func endCalls() {
        calls.endAll(.hostHasStopped)
        timers.endBodies(.hostHasStopped)
    }

    /// Returns the message about a component that is not stopped because its code is still running.
    func stillInUse(isInStep: Bool) -> String {
        if isInStep { return "not stopped: one of its lifecycle steps has not ended" }
        if streams.count > 0 { return "not stopped: its streams have not ended after they were closed" }
        return "not stopped: calls to it have not ended"
    }
}
