import CBackplane
import Synchronization

/// A component instance as its plugin stores it for the host.
final class Instance: Sendable {
    let component: any Component
    private let state: InstanceState?
    /// The context of encoded calls.
    ///
    /// The host itself observes how they end.
    private let held: HeldPointer
    /// The context of native calls.
    private let nativeHeld: HeldPointer
    private let bodies: [(any MethodBody)?]
    /// The methods that are called only in JSON, instead of ``bodies``.
    private let encoded: [EncodedStart]
    /// The cells that native wires call, by member.
    let cells: InstanceCells
    private let tasks: ComponentTasks
    /// The step that applies another configuration, in JSON; `nil` for a component that is recreated instead.
    let reconfigure: Reconfigure?
    /// The encoded calls in flight, by the host's numbers.
    private let calls = Mutex(NumberedValues<CallState>())
    /// The streams that the host has opened and not closed, by its numbers.
    private let streams = Mutex(NumberedValues<StreamControl>())

    typealias Reconfigure = @Sendable (_ configuration: [UInt8]) async throws -> Void

    init<C: Component>(
        _ component: C, bodies: [(any MethodBody)?], encoded: [EncodedStart] = [], tasks: ComponentTasks,
        _ coding: _StateCoding<C>?, reconfigure: Reconfigure? = nil
    ) {
        (self.component, self.bodies, self.tasks, self.reconfigure) = (component, bodies, tasks, reconfigure)
        self.encoded = encoded
        state = coding?.state(component)
        held = HeldPointer(component)
        // Only swaps of such components wait for calls. Encoded calls are cancelled by their ids.
        nativeHeld = HeldPointer(component, calls: coding != nil || C.isExclusive ? NativeCalls() : nil)
        cells = InstanceCells(bodies, nativeHeld.context)
    }

    deinit {
        tasks.cancel()  // for a component that was not stopped, as in a swap
        cells.free()
        held.free()
        nativeHeld.free()
    }

    /// The native calls that ended with an error.
    var failures: CallFailures.Tally { nativeHeld.failures.tally }

    func stop() async {
        await component.stop()
        await tasks.stop()
    }

    /// Records whether errors of streams' bodies count as interruptions, because the component is suspended.
    func mark(suspended: Bool) {
        for pointer in [held, nativeHeld] { pointer.failures.isSuspended.store(suspended, ordering: .relaxed) }
    }

    /// Opens a stream; an error is the answer to the first request for elements.
    ///
    /// `input` is lent for the duration of this function.
    func open(_ method: Int, _ input: bp_bytes, _ call: Call, id: UInt64) {
        let stream: StreamControl
        do throws(BackplaneError) {
            guard bodies.indices.contains(method), let body = bodies[method] else {
                throw BackplaneError(
                    .callUnimplemented, "\(type(of: component).className) has no method number \(method)")
            }
            stream = try body.open(held.context, input, call)
        } catch {
            stream = RefusedStream(error)
        }
        streams.withLock { $0[id] = stream }
    }

    /// Answers with elements of a stream.
    func next(_ id: UInt64, _ count: Int, _ reply: Reply) {
        guard let stream = streams.withLock({ $0[id] }) else {
            return reply.end(BackplaneError(.streamMisused, "there is no open stream with the number \(id)"))
        }
        stream.pull(count, reply)
    }

    /// Closes a stream, and answers when its body has returned.
    func close(_ id: UInt64, _ reply: Reply) {
        let open = streams.withLock { streams in
            defer { streams[id] = nil }
            return streams[id]
        }
        guard let stream = open else { return reply.end(Int32(BP_OK), .empty) }
        stream.end(.streamCancelled)
        stream.whenReturned(reply)
    }

    /// Calls a method and answers exactly once.
    ///
    /// A synchronous method is answered before this returns. `input` is lent for the duration of this function.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, id: UInt64, _ reply: Reply) {
        let body = bodies.indices.contains(method) ? bodies[method] : nil
        guard body != nil || encoded.indices.contains(method) else {
            return reply.end(
                BackplaneError(.callUnimplemented, "\(type(of: component).className) has no method number \(method)"))
        }
        calls.withLock { $0[id] = .starting }
        let ending = CallEnding(instance: self, id: id, reply: reply), started: Task<Void, Never>?
        if let body {
            started = body.start(held.context, input, call, ending)
        } else {
            started = encoded[method](held.context, input, call, ending)
        }
        guard let task = started else { return }
        let isCancelled = calls.withLock { calls in
            guard let state = calls[id] else { return false }  // it has answered
            calls[id] = .underWay(task)
            return if case .cancelled = state { true } else { false }
        }
        if isCancelled { task.cancel() }
    }

    /// Forgets a call.
    ///
    /// ``CallEnding`` calls this before it answers.
    func ended(_ id: UInt64) {
        calls.withLock { $0[id] = nil }
    }

    /// Cancels an encoded call or, for the id 0, all native calls in flight.
    func cancel(_ id: UInt64) {
        guard id != 0 else { return nativeHeld.calls?.cancelAll() ?? () }
        let task = calls.withLock { calls -> Task<Void, Never>? in
            if case .underWay(let task) = calls[id] { return task }
            if calls[id] != nil { calls[id] = .cancelled }
            return nil
        }
        task?.cancel()
    }

    /// Returns the access to the component's state.
    ///
    /// - Throws: `call.unimplemented` for a component without state.
    func requireState() throws(BackplaneError) -> InstanceState {
        guard let state else { throw BackplaneError(.callUnimplemented, "the component has no state") }
        return state
    }

    private enum CallState {
        case starting, cancelled
        case underWay(Task<Void, Never>)
    }
}

/// The memory in which the functions of a method table find their component.
private struct HeldPointer: @unchecked Sendable {  // written once, freed when no more calls are possible
    let context: UnsafeRawPointer
    let calls: NativeCalls?
    let failures: CallFailures
    let free: @Sendable () -> Void

    init<C: Component>(_ component: C, calls: NativeCalls? = nil) {
        let held = Held(component, calls: calls)
        failures = held.failures
        let context = UnsafeRawPointer(UnsafeMutableRawPointer(keeping: held))
        (self.context, self.calls) = (context, calls)
        nonisolated(unsafe) let pointer = context  // freed by its last user
        free = {
            UnsafeMutableRawPointer(mutating: pointer).free(Held<C>.self)
            calls?.free()
        }
    }
}

/// An executor that runs one task outside Swift's thread pool, which plugins may occupy.
///
/// The task begins on the calling thread. After it has suspended, it continues on its own threads.
final class StepThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = true
    }
    private let state = Mutex(State())

    /// Starts `work`, and waits until it has ended or suspended.
    static func run(_ work: @escaping @Sendable () async -> Void) {
        let thread = StepThread()
        Task(executorPreference: thread) { await work() }
        thread.run()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard needsThread else { return }
        // When the task ends, it releases its executor, which still has to look for another job.
        let own = Unmanaged.passRetained(self)
        let started = bp_start_thread(
            { Unmanaged<StepThread>.fromOpaque($0).takeRetainedValue().run() }, own.toOpaque())
        guard started == 0 else { return }
        // The system has no thread left, so the thread that resumes the task runs it.
        own.takeRetainedValue().run()
    }

    private func run() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }
}
