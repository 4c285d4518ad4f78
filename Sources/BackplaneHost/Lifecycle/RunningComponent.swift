import Backplane
import BackplaneBoundary

/// A component that is up.
final class RunningComponent: Sendable {
    /// As it was when this came up.
    let node: Plan.Node
    /// Its class; where that stands among the plugins may be another place in the manifest in force now.
    let type: ComponentClass
    let name: String
    /// Where calls of it meet what changes behind it.
    let gate: Gate
    let instance: ComponentInstance
    let calls: ComponentCalls
    /// What encoded cells of wires to it call.
    let target: EncodedTarget
    let handle: UInt64

    init(node: Plan.Node, _ type: ComponentClass, gate: Gate, instance: ComponentInstance, handle: UInt64, timer: DeadlineTimer) {
        (self.node, self.type, self.gate, self.instance, self.handle) = (node, type, gate, instance, handle)
        name = node.name
        calls = ComponentCalls(instance, name: node.name, methods: node.entry.component.contract?.methods ?? [], timer: timer)
        target = EncodedTarget(keeping: calls)
    }

    /// Calls of this instance that failed, but for those that were cancelled. Not to be asked after it was given up.
    var failures: Int { Int(clamping: instance.failures) + calls.failures }
}
