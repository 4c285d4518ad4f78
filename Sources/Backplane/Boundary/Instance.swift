import CBackplane
import Synchronization

/// One component as its plugin keeps it for the host.
final class Instance: Sendable {
    let component: any Component
    /// `nil`: it has no state.
    let state: InstanceState?
    /// What encoded calls run on: the host sees for itself how those end.
    private let held: HeldPointer
    /// What native calls run on.
    private let nativeHeld: HeldPointer
    private let bodies: [(any MethodBody)?]
    /// What native wires call, by member.
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
        tasks.cancel()      // of one that never came to its stop: in a swap none does
        cells.free()
        held.free()
        nativeHeld.free()
    }

    /// Native calls that ended with an error.
    var failures: UInt64 { nativeHeld.failures() }

    func stop() async {
        await component.stop()
        await tasks.stop()
    }

    /// Answers exactly once, a synchronous method before this returns. `input` is lent for as long as this runs.
    func call(_ method: Int, _ input: bp_bytes, _ call: Call, id: UInt64, _ reply: Reply) {
        guard bodies.indices.contains(method), let body = bodies[method] else {
            return reply.end(BackplaneError(.callUnimplemented, "\(type(of: component).className) has no method number \(method)"))
        }
        calls.withLock { $0[id] = .starting }
        guard let task = body.start(held.context, input, call, CallEnding(instance: self, id: id, reply: reply)) else { return }
        let isCancelled = calls.withLock { calls in
            guard let state = calls[id] else { return false }       // it has answered
            calls[id] = .underWay(task)
            return if case .cancelled = state { true } else { false }
        }
        if isCancelled { task.cancel() }
    }

    /// What ``CallEnding`` calls before it answers.
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

    /// The encoded calls under way, by id, the latest last: the first that are looked for.
    ///
    /// No dictionary, for which the runtime would look for `Hashable` in all that is loaded.
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

/// Where the functions of a method table find their component.
private struct HeldPointer: @unchecked Sendable {       // written once, freed when nobody can call any more
    let context: UnsafeRawPointer
    let failures: @Sendable () -> UInt64
    let free: @Sendable () -> Void

    init<C: Component>(_ component: C) {
        let context = UnsafeRawPointer(UnsafeMutableRawPointer(keeping: Held(component)))
        self.context = context
        nonisolated(unsafe) let pointer = context       // whoever frees it is its last user
        failures = { pointer.assumingMemoryBound(to: Held<C>.self).pointee.failures.value }
        free = { UnsafeMutableRawPointer(mutating: pointer).free(Held<C>.self) }
    }
}
