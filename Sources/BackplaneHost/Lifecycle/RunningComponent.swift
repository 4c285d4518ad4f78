import Backplane
import BackplaneBoundary

/// A running component.
final class RunningComponent: Sendable {
    /// The component's definition at the time it started.
    let node: Plan.Node
    /// The component's class, whose plugin may now have another position in the active manifest.
    let type: ComponentClass
    let name: String
    /// The gate through which the component is called.
    let gate: Gate
    let instance: ComponentInstance
    let calls: ComponentCalls
    /// The component's timers.
    let timers: ComponentTimers
    /// The target of the encoded cells of wires to the component.
    let target: EncodedTarget
    let handle: UInt64
    /// The number that identifies the component as a caller.
    let number: UInt16
    /// The location of its data if it is a data access controller.
    let dataPlace: String?

    /// The open streams of the component.
    var streams: ComponentStreams { calls.streams }

    init(
        node: Plan.Node, _ type: ComponentClass, number: UInt16, gate: Gate, instance: ComponentInstance,
        handle: UInt64, dataPlace: String?, timers: ComponentTimers, _ consumers: StreamConsumers, clock: any HostClock
    ) {
        (self.number, self.dataPlace) = (number, dataPlace)
        (self.node, self.type, self.gate, self.instance, self.handle) = (node, type, gate, instance, handle)
        name = node.name
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

    /// Sets the function that is called after each call of this instance that fails, in either lane.
    ///
    /// It is called under a lock, so it must not block or use the component. Do not set it after the release.
    func observeFailures(_ observer: (@Sendable () -> Void)?) {
        instance.observeFailures(observer)
        calls.observeFailures(observer)
    }

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
