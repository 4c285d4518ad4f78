import Backplane

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
    /// What all native wires to it share; `nil`: it has no native lane.
    let nativeBinding: Binding?
    let handle: UInt64

    init(node: Plan.Node, _ type: ComponentClass, gate: Gate, instance: ComponentInstance, handle: UInt64, timer: DeadlineTimer, counting: LeaseCounting) {
        (self.node, self.type, self.gate, self.instance, self.handle) = (node, type, gate, instance, handle)
        name = node.name
        nativeBinding = instance.nativeCells.map { Binding($0, counting: counting) }
        calls = ComponentCalls(instance, name: node.name, methods: node.entry.component.contract?.methods ?? [], timer: timer)
        target = EncodedTarget(keeping: calls)
    }

    /// Calls a method by name.
    ///
    /// - Returns: `nil` when it has stopped, and was not called.
    func call(_ method: String, _ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8]? {
        guard let number = calls.methods.firstIndex(where: { $0.name == method }) else {
            let names = calls.methods.map { "`\($0.name)`" }.joined(separator: ", ")
            throw BackplaneError(.callUnimplemented, "\(name) has no method `\(method)`; it has \(names.isEmpty ? "none" : names)")
        }
        let answer = PendingAnswer(), reply = answer.reply
        guard let id = input.withBytes({ calls.begin(number, $0, call, reply) }) else {
            reply.end(.calledStopped)       // nobody waits for it
            return nil
        }
        return try await answer.wait { calls.cancel(id) }.get()
    }
}

extension Plan.Node {
    /// What messages call it: a manager by its name in the manifest, anything else by its class.
    var name: String {
        role == .manager ? managers[0] : entry.component.className
    }
}

extension Plan.Node {
    /// - Throws: `wire.mismatch` when it does not provide what is needed.
    func requireService(of needed: ContractDescription) throws(BackplaneError) {
        guard let difference = entry.component.contract.difference(from: needed) else { return }
        throw mismatch(with: needed, difference)
    }

    func mismatch(with needed: ContractDescription, _ difference: String) -> BackplaneError {
        BackplaneError(.wireMismatch, "`\(needed.name)` \(needed.version) was asked of \(name); \(entry) \(difference)", at: location)
    }
}
