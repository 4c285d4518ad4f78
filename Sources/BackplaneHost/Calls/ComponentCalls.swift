import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The encoded calls into one component: the host answers for what the plugin may get wrong.
///
/// Every call is answered exactly once and, unless the plugin's function itself blocks, no later than its deadline. Whoever uses the instance is
/// counted in first and looks then whether it is closed: once it is closed and nobody is counted, it can be given up.
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

    /// Calls that the plugin has not answered and whose deadline has not passed.
    var callsInFlight: Int { underWay.load(ordering: .sequentiallyConsistent) }

    /// Refuses new calls; those under way go on.
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
        defer { leave() }       // a plugin may answer before it returns
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
            let error = BackplaneError(.componentFailed, "`\(methods[method].name)` of \(name) is synchronous and did not answer at once")
            Callbacks.end(id, EncodedAnswer(error))
        }
        if Callbacks.isWaiting(id, self) { return id }
        // The deadline may have passed before the plugin knew of the call, and then the cancellation was about nothing.
        if deadline != nil, Callbacks.isOwed(id) { instance.cancel(id) }
        return 0
    }

    func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool) {
        if hadDeadline { timer.cancel(id) }
        if status != BP_OK, status != BP_CANCELLED { failed.wrappingAdd(1, ordering: .relaxed) }
        leave()
    }

    /// Calls that ended with an error, cancelled ones apart.
    var failures: Int { failed.load(ordering: .relaxed) }

    /// The names of the methods that are under way, each once.
    var methodsInFlight: [String] {
        Set(Callbacks.methodsUnderWay(of: self)).filter(methods.indices.contains).sorted().map { methods[$0].name }
    }

    func pluginAnswered() {
        instance.release()
    }

    func cancel(_ id: UInt64) {
        enter()
        defer { leave() }
        // Nobody else's calls are cancelled here. One that is waited for keeps the instance, also once this was closed.
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
