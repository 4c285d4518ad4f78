import Backplane
import BackplaneDocuments
import CBackplane
import Synchronization

/// A wire for which the host makes the calls on behalf of its user.
///
/// The user is a plugin without the Swift SDK or with another revision of it, or the host program calling by name.
final class ServedWire: Sendable {
    /// The method to call.
    enum Method: Sendable {
        /// The method at this index among those that the wire declares.
        case declared(Int)
        /// The method with this name.
        case named(String)
    }
    let slot: Slot
    let gate: Gate
    /// The methods that the wire declares.
    let methods: [MethodDescription]
    /// Whether the host names the called method in errors, because the user has no SDK.
    private let namesErrors: Bool
    /// The calls that the gate has admitted after they had waited; a thread that opens a gate must not enter a plugin.
    private let admitted = PluginWork()
    /// The calls that had to wait at the gate, until they end.
    private let delayed = Mutex<[UInt64: DelayedCall]>([:])

    private struct DelayedCall: Sendable {
        let wait, call: Cancellation
    }

    init(_ slot: Slot, at gate: Gate, methods: [MethodDescription], namesErrors: Bool = false) {
        (self.slot, self.gate, self.methods, self.namesErrors) = (slot, gate, methods, namesErrors)
    }

    /// Returns whether calls pass a gate.
    func leads(through gate: Gate) -> Bool { gate === self.gate }

    /// Calls the provider and returns the id by which the call can be cancelled, or 0 if it has already ended.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        guard methods.indices.contains(method) else {
            reply.end(BackplaneError(.callUnimplemented, "the called component has no method number \(method)"))
            return 0
        }
        if let lease = Lease(slot) { return forward(lease, .declared(method), input, call, reply) }
        if methods[method].isSynchronous {
            return admit(gate.admitNow(at: slot, call), .declared(method), input, call, reply)
        }
        return wait(.declared(method), input, call, reply)
    }

    /// Calls a method by name and waits for the answer.
    ///
    /// The plugin's function runs on a separate thread. If it never returns, the thread remains occupied, and the call
    /// ends at its deadline.
    func call(_ method: String, _ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8] {
        let answer = PendingAnswer(), reply = answer.reply, begun = Cancellation { [self] in cancel($0) }
        let begins = HostThread.launch { [self] in
            begun.began(
                input.withBytes { input in
                    if let lease = Lease(slot) {
                        forward(lease, .named(method), input, call, reply)
                    } else {
                        wait(.named(method), input, call, reply)
                    }
                })
        }
        if !begins { reply.end(.noThread) }
        let ended = await answer.wait { begun.cancel() }
        do throws(BackplaneError) { return try ended.get() } catch { throw naming(method, in: error) }
    }

    /// Returns the error of a call by name, with the called method in ``BackplaneError/calls``.
    func naming(_ method: String, in error: BackplaneError) -> BackplaneError {
        gate.name(of: method).map(error.of(call:)) ?? error
    }

    private func admit(_ admission: Admission, _ method: Method, _ input: bp_bytes, _ call: Call, _ reply: Reply)
        -> UInt64
    {
        switch admission {
        case .success(let lease): return forward(lease, method, input, call, reply)
        case .failure(let error):
            end(reply, method, EncodedAnswer(error))
            return 0
        }
    }

    /// Ends a call with an error, which names the method to a user without the SDK: in the text or in the JSON.
    private func end(_ reply: Reply, _ method: Method, _ answer: EncodedAnswer) {
        guard namesErrors, case .declared(let index) = method, let name = gate.name(of: methods[index].name) else {
            return reply.end(answer)
        }
        if answer.status == BP_ERROR { return reply.end(answer.error.of(call: name)) }
        "\(name): \(answer.error.message)".withBytes { reply.end(answer.status, $0) }
    }

    private func forward(_ lease: Lease, _ method: Method, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        // The call goes to the leased binding, even if the wire leads to another one by now.
        let target = lease.target(ServedTarget.self)
        do throws(BackplaneError) {
            let number = try target.number(of: method, methods)
            return target.provider.call(
                number, input, slot.appended(to: call),
                Reply { status, payload in
                    lease.end()
                    if status == BP_OK { return reply.end(status, payload) }
                    self.end(reply, method, EncodedAnswer(status, payload))
                })
        } catch {
            lease.end()
            end(reply, method, EncodedAnswer(error))
            return 0
        }
    }

    private func wait(_ method: Method, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        let id = Callbacks.newID()
        let delayedCall = DelayedCall(
            wait: Cancellation { [gate] in gate.cancel($0) }, call: Cancellation { [self] in cancelBegun($0) })
        delayed.withLock { $0[id] = delayedCall }
        let input = input.array,
            reply = Reply { [self] status, payload in
                delayed.withLock { _ = $0.removeValue(forKey: id) }
                reply.end(status, payload)
            }
        delayedCall.wait.began(
            gate.wait(at: slot, call) { [self] admission in
                act(on: admission) {
                    delayedCall.call.began(input.withBytes { self.admit(admission, method, $0, call, reply) })
                }
            })
        return delayed.withLock { $0[id] == nil ? 0 : id }
    }

    /// Acts on the admission of a call that had to wait.
    func act(on admission: Admission, _ act: @escaping @Sendable () -> Void) {
        if case .success = admission { admitted.begin(by: gate.clock.polls, act) } else { act() }
    }

    func cancel(_ id: UInt64) {
        if let delayedCall = delayed.withLock({ $0[id] }) {
            delayedCall.wait.cancel()
            delayedCall.call.cancel()
        } else {
            cancelBegun(id)
        }
    }

    /// Cancels a call in progress; a call that has ended has no owner.
    private func cancelBegun(_ id: UInt64) { (Callbacks.owner(of: id) as? ComponentCalls)?.cancel(id) }
}

extension ServedWire {
    /// Opens a stream, and returns immediately; errors are the answer to the first request for elements.
    func open(_ method: Method, _ input: [UInt8], _ call: Call) -> EncodedStream {
        let stream = EncodedStream(waitingAt: gate)
        open(stream, method, input, call)
        return stream
    }

    /// Opens a stream on a separate thread, which remains occupied if the plugin's function never returns.
    ///
    /// If the stream is not open at the call's deadline, the consumer receives an error.
    func openAside(_ method: Method, _ input: [UInt8], _ call: Call) -> EncodedStream {
        let stream = EncodedStream(waitingAt: gate)
        if let deadline = call.deadline { stream.beOpen(by: deadline) }
        if !HostThread.launch({ [self] in open(stream, method, input, call) }) { stream.endOpening(.noThread) }
        return stream
    }

    private func open(_ stream: EncodedStream, _ method: Method, _ input: [UInt8], _ call: Call) {
        if let deadline = call.deadline, deadline <= gate.clock.moment {
            return stream.endOpening(.deadlinePassed(before: "the stream was opened"))
        }
        if let lease = Lease(slot) { return open(stream, .success(lease), method, input, call) }
        stream.wait?.began(
            gate.wait(at: slot, call) { [self] admission in
                act(on: admission) { self.open(stream, admission, method, input, call) }
            })
    }

    private func open(
        _ stream: EncodedStream, _ admission: Admission, _ method: Method, _ input: [UInt8], _ call: Call
    ) {
        do throws(BackplaneError) {
            try open(stream, through: try admission.get(), method, input, call)
            // The lease has ended: requests for elements do not hold one.
            stream.opened()
        } catch {
            stream.endOpening(error)
        }
    }

    private func open(
        _ stream: EncodedStream, through lease: Lease, _ method: Method, _ input: [UInt8], _ call: Call
    ) throws(BackplaneError) {
        defer { lease.end() }
        if case .declared(let index) = method, !methods.indices.contains(index) {
            throw BackplaneError(.callUnimplemented, "the called component has no method number \(index)")
        }
        let target = lease.target(ServedTarget.self), number = try target.number(of: method, methods)
        var call = slot.appended(to: call)
        call.deadline = nil
        let opened = input.withBytes { input in
            Result { () throws(BackplaneError) in
                try target.provider.open(stream, number, input, call, by: slot.number)
            }
        }
        try opened.get()
    }
}

/// The target of the calls that the host makes on behalf of a wire's user, part of the binding that a call leases.
final class ServedTarget: Sendable {
    let provider: ComponentCalls
    /// The provider's number of each method that the wire declares, or `nil` if it has no method of that name.
    private let numbers: [Int?]

    /// Creates a target that maps method numbers.
    ///
    /// - Parameter methods: The methods that the wire declares.
    init(_ provider: ComponentCalls, _ methods: [MethodDescription]) {
        self.provider = provider
        numbers = methods.map { method in provider.number(of: method.name) }
    }

    /// Returns the provider's number of a method.
    ///
    /// - Throws: `call.unimplemented` if the provider has no such method.
    func number(of method: ServedWire.Method, _ methods: [MethodDescription]) throws(BackplaneError) -> Int {
        switch method {
        case .declared(let index):
            if let number = numbers[index] { return number }
            throw BackplaneError(.callUnimplemented, "the called component has no method `\(methods[index].name)`")
        case .named(let name):
            if let number = provider.number(of: name) { return number }
            let names = provider.methods.map(\.name)
            let hint =
                NameSuggestions(for: name, among: names).question
                ?? "it has \(names.isEmpty ? "none" : NameSuggestions.list(names))"
            throw BackplaneError(.callUnimplemented, "\(provider.name) has no method `\(name)`; \(hint)")
        }
    }
}

/// A wire of a component that is connected to its provider.
struct OpenWire: Sendable {
    /// The wire's handle, for plugins that call through the host.
    var id: UInt64
    var label: String
    var slot: Slot
    /// The wire that the handle represents.
    var wire: ServedWire
}
