import CBackplane
import Synchronization

/// A component instance as its plugin keeps it for the host.
final class Instance: Sendable {
    let component: any Component
    /// The access to the component's state; `nil` for a component without state.
    let state: InstanceState?
    /// The context of encoded calls.
    ///
    /// The host itself observes how those end.
    private let held: HeldPointer
    /// The context of native calls.
    private let nativeHeld: HeldPointer
    private let bodies: [(any MethodBody)?]
    /// The cells that native wires call, by member.
    let cells: InstanceCells
    private let tasks: ComponentTasks
    private let calls = Mutex(Calls())

    init<C: Component>(_ component: C, bodies: [(any MethodBody)?], tasks: ComponentTasks, _ coding: _StateCoding<C>?) {
        (self.component, self.bodies, self.tasks) = (component, bodies, tasks)
        state = coding.map { InstanceState(of: component, $0) }
        (held, nativeHeld) = (HeldPointer(component), HeldPointer(component))
        cells = InstanceCells(bodies, nativeHeld.context)
    }

    deinit {
        tasks.cancel()  // of one that never came to its stop: in a swap none does
        cells.free()
        held.free()
        nativeHeld.free()
    }

    /// The number of native calls that ended with an error.
    var failures: UInt64 { nativeHeld.failures() }

    func stop() async {
        await component.stop()
        await tasks.stop()
    }

    /// Calls a method and answers exactly once.
    ///
    /// A synchronous method is answered before this returns. `input` is lent for the duration of this function.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, id: UInt64, _ reply: Reply) {
        guard bodies.indices.contains(method), let body = bodies[method] else {
            return reply.end(
                BackplaneError(.callUnimplemented, "\(type(of: component).className) has no method number \(method)"))
        }
        calls.withLock { $0[id] = .starting }
        guard let task = body.start(held.context, input, call, CallEnding(instance: self, id: id, reply: reply)) else {
            return
        }
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

    func cancel(_ id: UInt64) {
        let task = calls.withLock { calls -> Task<Void, Never>? in
            if case .underWay(let task) = calls[id] { return task }
            if calls[id] != nil { calls[id] = .cancelled }
            return nil
        }
        task?.cancel()
    }

    /// The encoded calls in flight, by id, in the order of their start.
    ///
    /// Look-ups begin at the end.
    ///
    /// It is not a dictionary, for which the runtime would search every loaded image for `Hashable`.
    private struct Calls {
        private var all: [(id: UInt64, state: CallState)] = []

        subscript(id: UInt64) -> CallState? {
            get { all.last { $0.id == id }?.state }
            set {
                let index = all.lastIndex { $0.id == id }
                switch (index, newValue) {
                case (let index?, let state?): all[index].state = state
                case (let index?, nil): all.remove(at: index)
                case (nil, let state?): all.append((id, state))
                case (nil, nil): break
                }
            }
        }
    }

    private enum CallState {
        case starting, cancelled
        case underWay(Task<Void, Never>)
    }
}

/// The memory in which the functions of a method table find their component.
private struct HeldPointer: @unchecked Sendable {  // written once, freed when nobody can call any more
    let context: UnsafeRawPointer
    let failures: @Sendable () -> UInt64
    let free: @Sendable () -> Void

    init<C: Component>(_ component: C) {
        let context = UnsafeRawPointer(UnsafeMutableRawPointer(keeping: Held(component)))
        self.context = context
        nonisolated(unsafe) let pointer = context  // whoever frees it is its last user
        failures = { pointer.assumingMemoryBound(to: Held<C>.self).pointee.failures.value }
        free = { UnsafeMutableRawPointer(mutating: pointer).free(Held<C>.self) }
    }
}
