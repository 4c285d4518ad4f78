import Backplane
import CBackplane
import Synchronization

/// A wire of a component that calls through the host: a plugin without the Swift SDK, or with another revision of it.
final class ServedWire: Sendable {
    private let slot: Slot
    private let gate: Gate
    private let methods: [MethodDescription]
    /// Changed before the slot is: who finds it open finds whom to call.
    private let target: Mutex<Target>
    /// Calls that had to wait at the gate, until they end.
    private let delayed = Mutex<[UInt64: DelayedCall]>([:])

    private struct DelayedCall: Sendable {
        let wait, call: Cancellation
    }
    /// Who is called.
    private struct Target {
        let provider: ComponentCalls
        /// Its number for each method that the wire declares; `nil`: it has none of that name.
        let numbers: [Int?]

        init(_ provider: ComponentCalls, _ methods: [MethodDescription]) {
            self.provider = provider
            numbers = methods.map { method in provider.methods.firstIndex { $0.name == method.name } }
        }
    }

    init(_ slot: Slot, at gate: Gate, to provider: ComponentCalls, methods: [MethodDescription]) {
        (self.slot, self.gate, self.methods) = (slot, gate, methods)
        target = Mutex(Target(provider, methods))
    }

    /// Calls another provider from now on.
    func redirect(to provider: ComponentCalls) {
        target.withLock { $0 = Target(provider, methods) }
    }

    private var provider: ComponentCalls { target.withLock { $0.provider } }

    /// Calls the provider on behalf of the component; returns an id to cancel by, 0 when it has ended already.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        guard methods.indices.contains(method) else {
            reply.end(BackplaneError(.callUnimplemented, "the component called has no method number \(method)"))
            return 0
        }
        if let lease = Lease(slot) { return forward(lease, method, input, call, reply) }
        if methods[method].kind == .sync {
            return admit(gate.admitNow(at: slot, call), method, input, call, reply)
        }
        return wait(method, input, call, reply)
    }

    private func admit(_ admission: Admission, _ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        switch admission {
        case .success(let lease): return forward(lease, method, input, call, reply)
        case .failure(let error):
            reply.end(error)
            return 0
        }
    }

    private func forward(_ lease: Lease, _ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        let (provider, number) = target.withLock { ($0.provider, $0.numbers[method]) }
        guard let number else {
            lease.end()
            reply.end(BackplaneError(.callUnimplemented, "the component called has no method `\(methods[method].name)`"))
            return 0
        }
        return provider.call(number, input, slot.appended(to: call), Reply { status, payload in
            lease.end()
            reply.end(status, payload)
        })
    }

    private func wait(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        let id = Callbacks.newID()
        let delayedCall = DelayedCall(wait: Cancellation { [gate] in gate.cancel($0) }, call: Cancellation { [self] in provider.cancel($0) })
        delayed.withLock { $0[id] = delayedCall }
        let input = input.array, reply = Reply { [self] status, payload in
            delayed.withLock { _ = $0.removeValue(forKey: id) }
            reply.end(status, payload)
        }
        delayedCall.wait.began(
            gate.wait(at: slot, call) { [self] admission in
                delayedCall.call.began(input.withBytes { admit(admission, method, $0, call, reply) })
            })
        return delayed.withLock { $0[id] == nil ? 0 : id }
    }

    func cancel(_ id: UInt64) {
        if let delayedCall = delayed.withLock({ $0[id] }) {
            delayedCall.wait.cancel()
            delayedCall.call.cancel()
        } else {
            provider.cancel(id)
        }
    }
}
