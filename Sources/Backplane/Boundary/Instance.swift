import Synchronization

/// One component as its plugin keeps it for the host.
final class Instance: Sendable {
    /// A step of the component's life that the host may ask for.
    enum Step { case activate, suspend, resume, stop }

    private let component: any Component
    private let held: HeldPointer
    private let bodies: [(any MethodBody)?]
    /// What native wires call, by member.
    let cells: InstanceCells
    private let tasks: ComponentTasks
    private let calls = Mutex<[UInt64: Task<Void, Never>]>([:])

    init<C: Component>(_ component: C, bodies: [(any MethodBody)?], tasks: ComponentTasks) {
        (self.component, self.bodies, self.tasks) = (component, bodies, tasks)
        held = HeldPointer(component)
        cells = InstanceCells(bodies, held.context)
    }

    deinit {
        tasks.cancel()      // of one that never came to its stop
        cells.free()
        held.free()
    }

    func run(_ step: Step) async throws {
        switch step {
        case .activate: try await component.activate()
        case .suspend: try await component.suspend()
        case .resume: try await component.resume()
        case .stop:
            await component.stop()
            await tasks.stop()
        }
    }

    /// Answers exactly once: before it returns for a synchronous method, otherwise from a task of its own.
    func call(_ method: Int, _ input: [UInt8], _ call: Call, id: UInt64, _ done: @escaping @Sendable (EncodedAnswer) -> Void) {
        guard bodies.indices.contains(method), let body = bodies[method] else {
            return done(EncodedAnswer(BackplaneError(.callUnimplemented, "\(type(of: component).className) has no method number \(method)")))
        }
        do {
            if let result = try body.callEncodedNow(held.context, input, call) { return done(EncodedAnswer(result)) }
        } catch {
            return done(EncodedAnswer(error))
        }
        calls.withLock { calls in
            calls[id] = Task {
                let answer: EncodedAnswer
                do { answer = EncodedAnswer(try await body.callEncoded(held.context, input, call)) } catch { answer = EncodedAnswer(BackplaneError(thrown: error)) }
                self.calls.withLock { _ = $0.removeValue(forKey: id) }
                done(answer)
            }
        }
    }

    func cancel(_ id: UInt64) {
        calls.withLock { $0[id] }?.cancel()
    }
}

/// Where the functions of a method table find their component.
private struct HeldPointer: @unchecked Sendable {       // written once, freed when nobody can call any more
    let context: UnsafeRawPointer
    let free: @Sendable () -> Void

    init<C: Component>(_ component: C) {
        let context = UnsafeRawPointer(UnsafeMutableRawPointer(keeping: Held(component)))
        self.context = context
        nonisolated(unsafe) let pointer = context
        free = { UnsafeMutableRawPointer(mutating: pointer).free(Held<C>.self) }
    }
}
