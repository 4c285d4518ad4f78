import Backplane
import BackplaneBoundary

/// A component that is up.
final class RunningComponent: Sendable {
    /// The component's definition at the time it started.
    let node: Plan.Node
    /// The component's class, whose plugin may have another place in the active manifest now.
    let type: ComponentClass
    let name: String
    /// The gate through which the component is called.
    let gate: Gate
    let instance: ComponentInstance
    let calls: ComponentCalls
    /// The target of the encoded cells of wires to the component.
    let target: EncodedTarget
    let handle: UInt64

    init(
        node: Plan.Node, _ type: ComponentClass, gate: Gate, instance: ComponentInstance, handle: UInt64,
        timer: DeadlineTimer
    ) {
        (self.node, self.type, self.gate, self.instance, self.handle) = (node, type, gate, instance, handle)
        name = node.name
        calls = ComponentCalls(
            instance, name: node.name, methods: node.entry.component.contract?.methods ?? [], timer: timer)
        target = EncodedTarget(keeping: calls)
    }

    /// The number of failed calls of this instance, without cancelled ones; not to be used after its release.
    var failures: Int { Int(clamping: instance.failures) + calls.failures }
}
