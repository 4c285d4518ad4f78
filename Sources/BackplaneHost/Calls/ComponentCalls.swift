import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The encoded calls into one component, guarded against mistakes of the plugin.
///
/// Every call is answered exactly once and, unless the plugin's function itself blocks, no later than its deadline.
/// Each use of the instance is counted before it checks whether the component is closed: once it is closed and the
/// count is zero, the instance can be released.
final class ComponentCalls: EncodedProvider, CallOwner {
    let methods: [MethodDescription]
    let name: String
    private let instance: ComponentInstance
    private let timer: DeadlineTimer
    private let underWay = Atomic<Int>(0)
    private let isClosed = Atomic<Bool>(false)
    private let failed = Atomic<Int>(0)

    init(_ instance: ComponentInstance, name: String, methods: [MethodDescription], timer: DeadlineTimer) {
        (self.instance, self.name, self.methods, self.timer) = (instance, name, methods, timer)
    }

    func number(of method: String) -> Int? { methods.firstIndex { $0.name == method } }

    /// The number of calls that the plugin has not answered and whose deadline has not passed.
    var callsInFlight: Int { underWay.load(ordering: .sequentiallyConsistent) }

    /// Refuses new calls; those in flight continue.
    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
    }

    private func enter() { underWay.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    private func leave() { underWay.wrappingSubtract(1, ordering: .releasing) }

    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        guard methods.indices.contains(method) else {
            reply.end(BackplaneError(.callUnimplemented, "\(name) has no method number \(method)"))
            return 0
        }
        let deadline = call.deadline
        if let deadline, deadline <= .now {
            reply.end(.deadlinePassed(before: "the call began"))
            return 0
        }
        enter()
        defer { leave() }  // a plugin may answer before it returns
        guard !isClosed.load(ordering: .sequentiallyConsistent) else {
            reply.end(BackplaneError(.callRetired, "\(name) has stopped, or its host has"))
            return 0
        }
        enter()
        instance.claim()
        let id = Callbacks.expectCall(by: self, method, reply, hasDeadline: deadline != nil)
        if let deadline { schedule(id, deadline, methods[method].name) }
        instance.call(UInt32(method), input, call, id: id)
        if methods[method].isSynchronous {
            let error = BackplaneError(
                .componentFailed, "`\(methods[method].name)` of \(name) is synchronous and did not answer at once")
            Callbacks.end(id, EncodedAnswer(error))
        }
        if Callbacks.isWaiting(id, self) { return id }
        // The deadline may have passed before the plugin knew of the call, so that the cancellation had no effect.
        if deadline != nil, Callbacks.isOwed(id) { instance.cancel(id) }
        return 0
    }

    func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool) {
        if hadDeadline { timer.cancel(id) }
        if status != BP_OK, status != BP_CANCELLED { failed.wrappingAdd(1, ordering: .relaxed) }
        leave()
    }

    /// The number of calls that ended with an error other than cancellation.
    var failures: Int { failed.load(ordering: .relaxed) }

    /// The names of the methods with calls in flight, without duplicates.
    var methodsInFlight: [String] {
        Set(Callbacks.callsUnderWay(of: self).map(\.method)).filter(methods.indices.contains).sorted().map {
            methods[$0].name
        }
    }

    /// Answers the calls in flight with an error, and cancels them in the plugin.
    func endAll(_ error: BackplaneError) {
        for (id, _) in Callbacks.callsUnderWay(of: self) where Callbacks.end(id, EncodedAnswer(error)) {
            // The plugin's function may not return. Without a thread it is not cancelled, but its caller has an answer.
            _ = HostThread.launch { [instance] in
                if Callbacks.isOwed(id) { instance.cancel(id) }
            }
        }
    }

    func pluginAnswered() {
        instance.release()
    }

    func cancel(_ id: UInt64) {
        enter()
        defer { leave() }
        // Only calls of this component are cancelled here. A pending call keeps the instance alive, even once closed.
        if Callbacks.isWaiting(id, self) { instance.cancel(id) }
    }

    private func schedule(_ id: UInt64, _ deadline: Deadline, _ method: String) {
        timer.schedule(id, at: deadline) { [self] in
            enter()
            defer { leave() }
            let error = BackplaneError.deadlinePassed(before: "`\(method)` of \(name) answered")
            if Callbacks.end(id, EncodedAnswer(error)) { instance.cancel(id) }
        }
    }
}
