import Backplane
import CBackplane
import Synchronization

/// A wire of a component that calls through the host: a plugin without the Swift SDK, or with another revision of it.
final class ServedWire: Sendable {
    private let slot: Slot
    private let gate: Gate
    private let provider: ComponentCalls
    /// The provider's number for each method that the wire declares; `nil`: it has none of that name.
    private let numbers: [Int?]
    private let methods: [MethodDescription]
    /// Calls that had to wait at the gate, until they end.
    private let delayed = Mutex<[UInt64: DelayedCall]>([:])

    private struct DelayedCall: Sendable {
        let wait, call: Cancellation
    }

    init(_ slot: Slot, at gate: Gate, to provider: ComponentCalls, methods: [MethodDescription]) {
        (self.slot, self.gate, self.provider, self.methods) = (slot, gate, provider, methods)
        numbers = methods.map { method in provider.methods.firstIndex { $0.name == method.name } }
    }

    /// Calls the provider on behalf of the component; returns an id to cancel by, 0 when it has ended already.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        guard numbers.indices.contains(method), let number = numbers[method] else {
            let name = methods.indices.contains(method) ? "`\(methods[method].name)`" : "number \(method)"
            reply.end(BackplaneError(.callUnimplemented, "the component called has no method \(name)"))
            return 0
        }
        if let lease = Lease(slot) { return forward(lease, number, input, call, reply) }
        if methods[method].kind == .sync {
            return admit(gate.admitNow(at: slot, call), number, input, call, reply)
        }
        return wait(number, input, call, reply)
    }

    private func admit(
        _ admission: Admission, _ number: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply
    ) -> UInt64 {
        switch admission {
        case .success(let lease): return forward(lease, number, input, call, reply)
        case .failure(let error):
            reply.end(error)
            return 0
        }
    }

    private func forward(
        _ lease: Lease, _ number: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply
    ) -> UInt64 {
        provider.call(number, input, slot.appended(to: call), Reply { status, payload in
            lease.end()
            reply.end(status, payload)
        })
    }

    private func wait(_ number: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        let id = Callbacks.newID()
        let delayedCall = DelayedCall(wait: Cancellation { [gate] in gate.cancel($0) }, call: Cancellation { [provider] in provider.cancel($0) })
        delayed.withLock { $0[id] = delayedCall }
        let input = input.array, reply = Reply { [self] status, payload in
            delayed.withLock { _ = $0.removeValue(forKey: id) }
            reply.end(status, payload)
        }
        delayedCall.wait.began(
            gate.wait(at: slot, call) { [self] admission in
                delayedCall.call.began(input.withBytes { admit(admission, number, $0, call, reply) })
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
