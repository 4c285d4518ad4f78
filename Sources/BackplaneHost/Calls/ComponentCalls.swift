import Backplane
import CBackplane
import Synchronization

/// The encoded calls into one component, guarded against faults of the plugin.
///
/// Every call is answered exactly once and, unless the plugin's function itself blocks, no later than its deadline.
/// Each use of the instance is counted before it checks whether the component is closed: once it is closed and the
/// count is zero, the instance can be released.
final class ComponentCalls: CallOwner {
    let methods: [MethodDescription]
    let name: String
    let instance: ComponentInstance
    private let clock: any HostClock
    private let underWay = Atomic<Int>(0)
    private let isClosed = Atomic<Bool>(false)
    /// Whether the calls in flight were answered because the host has stopped.
    private let hasEnded = Atomic<Bool>(false)
    private let failed = Atomic<Int>(0)
    /// The record of completed calls; `nil` once the instance has ended, because this object never does.
    private let account = Mutex<CallAccount?>(CallAccount())
    let streams: ComponentStreams

    init(
        _ instance: ComponentInstance, name: String, methods: [MethodDescription], _ consumers: StreamConsumers,
        clock: any HostClock
    ) {
        (self.instance, self.name, self.methods, self.clock) = (instance, name, methods, clock)
        streams = ComponentStreams(consumers, clock: clock)
    }

    func number(of method: String) -> Int? { methods.firstIndex { $0.name == method } }

    /// The number of calls and timer bodies that the plugin has not answered and whose deadlines have not passed.
    var callsInFlight: Int { underWay.load(ordering: .sequentiallyConsistent) }

    /// Refuses new calls; those in flight continue.
    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
    }

    /// Counts a use of the instance, which ``leave()`` ends: a call, the body of a timer, or a function of the plugin.
    func enter() { underWay.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    func leave() { underWay.wrappingSubtract(1, ordering: .releasing) }

    /// Calls a method with a borrowed input.
    ///
    /// - Returns: An id for cancelling the call; 0 if it has already ended.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, _ reply: Reply) -> UInt64 {
        guard methods.indices.contains(method) else {
            reply.end(BackplaneError(.callUnimplemented, "\(name) has no method number \(method)"))
            return 0
        }
        guard methods[method].kind == .async || methods[method].isSynchronous else {
            reply.end(methods[method].notCallable(of: name))
            return 0
        }
        let deadline = call.deadline
        if let deadline, deadline <= clock.moment {
            reply.end(.deadlinePassed(before: "the call began"))
            return 0
        }
        enter()
        defer { leave() }  // a plugin may answer before it returns
        guard !isClosed.load(ordering: .sequentiallyConsistent) else {
            reply.end(BackplaneError(.callRetired, "\(name) or its host has stopped"))
            return 0
        }
        enter()
        instance.claim()
        let id = Callbacks.expectCall(by: self, method, reply, hasDeadline: deadline != nil)
        // If all calls were ended before this one was registered, the plugin does not know this one yet.
        if hasEnded.load(ordering: .sequentiallyConsistent) {
            Callbacks.refuseCall(id, EncodedAnswer(BackplaneError.hostHasStopped))
            return 0
        }
        if let deadline {
            schedule(id, deadline, methods[method].name)
            // All calls may have been ended before there was a deadline to cancel.
            if hasEnded.load(ordering: .sequentiallyConsistent) { clock.cancel(id) }
        }
        instance.call(UInt32(method), input, call, id: id)
        if methods[method].isSynchronous {
            let error = BackplaneError(
                .componentFailed,
                "`\(methods[method].name)` of \(name) is synchronous but did not answer before returning")
            Callbacks.end(id, EncodedAnswer(error))
        }
        if Callbacks.isWaiting(id, self) { return id }
        // The call may have been ended before the plugin knew of it, in which case the cancellation had no effect.
        if deadline != nil || hasEnded.load(ordering: .relaxed), Callbacks.isOwed(id) { instance.cancel(id) }
        return 0
    }

    /// Opens a stream for a component, with a borrowed input; ``EncodedStream/opened()`` must follow.
    func open(
        _ stream: EncodedStream, _ method: Int, _ input: bp_bytes, _ call: Call, by consumer: UInt32
    ) throws(BackplaneError) {
        guard methods.indices.contains(method) else {
            throw BackplaneError(.callUnimplemented, "\(name) has no method number \(method)")
        }
        guard methods[method].isStream else {
            throw BackplaneError(
                .callWrongKind, "`\(methods[method].name)` of \(name) is not a stream; call it instead")
        }
        enter()
        defer { leave() }
        try requireOpen()
        stream.begin(at: self)
        try streams.add(stream.id, by: consumer) {
            instance.claim()
            return stream
        }
        instance.open(UInt32(method), input, call, id: stream.id)
    }

    /// Retains a stream that a component has opened natively, and the instance until its body returns.
    ///
    /// - Returns: The number with which to end it.
    /// - Throws: The reason for refusing the stream, in which case `make` was not called.
    func opened(by consumer: UInt32, _ make: () -> NativeStream) throws(BackplaneError) -> UInt64 {
        enter()
        defer { leave() }
        try requireOpen()
        let id = Callbacks.newID()
        try streams.add(id, by: consumer) {
            instance.claim()
            return make()
        }
        return id
    }

    private func requireOpen() throws(BackplaneError) {
        guard !isClosed.load(ordering: .sequentiallyConsistent) else {
            throw BackplaneError(.callRetired, "\(name) or its host has stopped")
        }
    }

    /// Records that the body of a stream has returned.
    func ended(_ stream: UInt64) {
        // First, because a component without streams may be released.
        instance.release()
        streams.remove(stream)
    }

    /// Counts a stream that has failed.
    func noteFailure(_ answer: EncodedAnswer) {
        failed.wrappingAdd(1, ordering: .relaxed)
        account.withLock { $0?.note(failure: answer) }
    }

    func callEnded(
        _ id: UInt64, status: Int32, hadDeadline: Bool, began: Deadline, _ answer: () -> EncodedAnswer
    ) {
        if hadDeadline { clock.cancel(id) }
        if status != BP_OK, status != BP_CANCELLED { noteFailure(answer()) }
        let time = Deadline.now - began
        account.withLock { $0?.latencies.add(time) }
        leave()
    }

    /// The times of completed calls.
    var latency: LatencyStatistics? { account.withLock { $0?.latencies.statistics } }

    /// The last error of a call or stream, and its time.
    var lastFailure: FailureStatistics? { account.withLock { $0?.lastFailure }?.statistics }

    /// Drops the record of completed calls.
    func endAccount() { account.withLock { $0 = nil } }

    /// The number of calls that ended with an error other than cancellation.
    var failures: Int { failed.load(ordering: .relaxed) }

    /// The names of the methods with calls in flight, each once.
    var methodsInFlight: [String] {
        Set(Callbacks.callsUnderWay(of: self).map(\.method)).filter(methods.indices.contains).sorted().map {
            methods[$0].name
        }
    }

    /// Answers the calls in flight with an error, and cancels them in the plugin.
    func endAll(_ error: BackplaneError) {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        let work = PluginWork()
        for (id, _) in Callbacks.callsUnderWay(of: self) where Callbacks.end(id, EncodedAnswer(error)) {
            work.begin(by: clock.polls) { [instance] in if Callbacks.isOwed(id) { instance.cancel(id) } }
        }
    }

    /// Cancels the calls in flight in the plugin, in either lane; they end when the plugin answers them.
    ///
    /// - Returns: The cancellation of the native calls, which must be withdrawn before other calls may begin.
    func cancelAll() -> NativeCancellation {
        let work = PluginWork()
        for (id, _) in Callbacks.callsUnderWay(of: self) { work.begin(by: clock.polls) { [self] in cancel(id) } }
        return NativeCancellation(of: instance)
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
        clock.schedule(id, at: deadline) { [self] in
            enter()
            defer { leave() }
            let error = BackplaneError.deadlinePassed(before: "`\(method)` of \(name) answered")
            if Callbacks.end(id, EncodedAnswer(error)) { instance.cancel(id) }
        }
    }
}

extension EncodedTarget {
    /// Creates the table through which encoded cells call a component, whose calls live as long as the process.
    init(keeping provider: ComponentCalls) {
        let methods = provider.methods.map(bp_method.init)
        let table = bp_provider(
            target: Unmanaged.passRetained(provider).toOpaque(), methods: forever(methods), method_count: methods.count,
            call: { target, method, input, frame, done, context in
                calls(at: target).call(Int(method), input, Call(frame.pointee), Reply(done, context))
            },
            cancel: { calls(at: $0).cancel($1) },
            open: { target, method, input, frame, consumer, refused, context in
                let stream = EncodedStream()
                do throws(BackplaneError) {
                    try calls(at: target).open(stream, Int(method), input, Call(frame.pointee), by: consumer)
                    stream.opened()
                    return Unmanaged.passRetained(stream).toOpaque()
                } catch {
                    Reply(refused, context).end(error)
                    return nil
                }
            },
            next: { stream, count, done, context in
                Unmanaged<EncodedStream>.fromOpaque(stream).takeUnretainedValue()
                    .next(Int(count), Reply(done, context))
            },
            close: { Unmanaged<EncodedStream>.fromOpaque($0).takeRetainedValue().close() },
            opened: { target, consumer, stream, end, count, release, refused, context in
                do throws(BackplaneError) {
                    return try calls(at: target).opened(by: consumer) {
                        NativeStream(stream, end: end, count: count, release: release)
                    }
                } catch {
                    Reply(refused, context).end(error)
                    return 0
                }
            },
            ended: { calls(at: $0).ended($1) })
        self.init(forever([table])!)
    }
}

private func calls(at pointer: UnsafeMutableRawPointer) -> ComponentCalls {
    Unmanaged<ComponentCalls>.fromOpaque(pointer).takeUnretainedValue()
}

extension MethodDescription {
    /// Returns the error for calling a method that cannot be called.
    fileprivate func notCallable(of component: String) -> BackplaneError {
        isStream
            ? BackplaneError(
                .callWrongKind, "`\(name)` of \(component) is a stream; open it instead of calling it")
            : BackplaneError(
                .callUnimplemented, "`\(name)` of \(component) is \(kind.adjective), which this host cannot call")
    }
}

extension BackplaneError {
    /// The error for all requests to a host that has stopped.
    static var hostHasStopped: BackplaneError { BackplaneError(.hostStopped, "the host has stopped; create a new one") }
}

/// The cancellation of an instance's native calls in flight.
///
/// Native calls have no numbers, so a late cancellation would also end calls that began after it was requested.
final class NativeCancellation: Sendable {
    private enum Phase {
        case due, running, over
    }
    private let phase = Mutex(Phase.due)

    /// Begins the cancellation on a thread, because functions of the plugin may not return.
    init(of instance: ComponentInstance) {
        instance.claim()
        let begins = HostThread.launch { [self] in
            if advance(from: .due, to: .running) {
                instance.cancelNativeCalls()
                _ = advance(from: .running, to: .over)
            }
            instance.release()
        }
        if !begins { instance.release() }
    }

    /// Keeps the cancellation from beginning; returns `false` if it is running.
    func withdraw() -> Bool {
        _ = advance(from: .due, to: .over)
        return phase.withLock { $0 == .over }
    }

    private func advance(from old: Phase, to new: Phase) -> Bool {
        phase.withLock { phase in
            guard phase == old else { return false }
            phase = new
            return true
        }
    }
}
