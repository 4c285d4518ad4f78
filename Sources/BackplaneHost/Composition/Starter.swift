import Backplane

/// The starting of managers and everything that they need: each once, and independent ones concurrently.
///
/// Functions that create tasks receive the serial domain to which the tasks belong.
final class Starter {
    let live: LiveComposition
    let instances: Instances
    /// The lookups in progress for which components wait, by the number of their round of starts.
    var lookUps: [LiveNode.Attempt: LookUp] = [:]
    typealias LookUp = (
        asker: LiveNode, continuation: UnsafeContinuation<Result<RunningComponent, BackplaneError>, Never>
    )
    private var lastAttempt: LiveNode.Attempt = 0
    /// Whether all eager managers have been requested to start.
    private(set) var hasStartedAll = false

    init(_ instances: Instances) {
        (live, self.instances) = (instances.live, instances)
    }

    /// Starts every eager manager and everything that it needs, independent managers concurrently.
    ///
    /// - Parameter keepGoing: Whether managers that cannot start are only reported by their states.
    /// - Throws: All errors of the manifest before anything starts, or later the errors of managers that did not start.
    func startAll(keepGoing: Bool) async throws(BackplaneError) {
        await live.load()
        try live.requireRunning()
        let loaded = live.loaded
        if !keepGoing { try loaded.requireSound() }
        hasStartedAll = true
        let network = loaded.document.manifest.network.managers
        let first = await start(loaded.eagerNames.filter(network.contains))
        let others = await start(loaded.eagerNames.filter { !network.contains($0) })
        let errors = first + others.filter { !first.contains($0) }
        // It takes time to open a store that is damaged or large.
        let store = instances.store
        _ = await live.clock.waits(live.options.startLimit) { !store.isBeingOpened || live.isStopped }
        try live.requireRunning()
        if !keepGoing, !errors.isEmpty { throw .combining(errors, of: "the start", at: loaded.document.path) }
    }

    /// Starts managers and returns the errors of those that did not start, each error once.
    ///
    /// Managers that are removed by a change in the meantime are ignored.
    func start(_ managers: [String], in domain: isolated (any Actor)? = #isolation) async -> [BackplaneError] {
        let attempt = nextAttempt()
        let tasks = managers.map { name in
            Task {
                _ = domain
                return await startIfThere(name, during: attempt)
            }
        }
        var errors: [BackplaneError] = []
        for task in tasks {
            guard let error = await task.value else { continue }
            let origin = error.origin
            if !errors.contains(origin) { errors.append(origin) }
        }
        return errors
    }

    private func startIfThere(_ manager: String, during attempt: LiveNode.Attempt) async -> BackplaneError? {
        guard let place = live.loaded.plan.managers[manager] else { return nil }
        let node = live.nodes[place]
        do throws(BackplaneError) {
            _ = try await start(node, during: attempt).get()
            // A collaborator that the class does not declare may be missing after a change that left the node
            // unchanged.
            if node.running != nil { try await startLayers(of: node, during: attempt) }
            node.awaited = []
            return nil
        } catch {
            if node.running != nil { node.awaited = [] }
            return error
        }
    }

    /// Returns a manager by its name, starting it if necessary.
    func running(_ manager: String) async throws(BackplaneError) -> RunningComponent {
        await live.load()
        while true {
            try live.requireRunning()
            let place = try live.loaded.node(ofManager: manager).id, node = live.nodes[place]
            let component = try await start(node, during: nextAttempt()).get()
            // A change may have replaced the component in the meantime.
            if node.running === component { return component }
        }
    }

    func nextAttempt() -> LiveNode.Attempt {
        lastAttempt += 1
        return lastAttempt
    }

    /// Starts a node once, no matter how many callers request it; a node that failed in an earlier round is tried
    /// again.
    func start(
        _ node: LiveNode, during attempt: LiveNode.Attempt, in domain: isolated (any Actor)? = #isolation
    ) async -> Result<RunningComponent, BackplaneError> {
        if case .ready(let component) = node.state { return .success(component) }
        if case .starting(let task) = node.state { return await task.value }
        if let error = node.failure(during: attempt) { return .failure(error) }
        if live.isGone(node) {
            await live.handover?.wait()
            return await startSuccessor(of: node, during: attempt)
        }
        if live.isStopped { return .failure(.hostHasStopped) }
        let task = Task {
            _ = domain
            return await make(node, during: attempt)
        }
        node.state = .starting(task)
        return await task.value
    }

    /// Starts the successor of a manager that is being replaced.
    private func startSuccessor(of node: LiveNode, during attempt: LiveNode.Attempt) async -> Result<
        RunningComponent, BackplaneError
    > {
        if live.isStopped { return .failure(.hostHasStopped) }
        guard node.node.role == .manager else { return .failure(.calledStopped) }
        do throws(BackplaneError) {
            let place = try live.loaded.node(ofManager: node.node.name).id
            return await start(live.nodes[place], during: attempt)
        } catch {
            return .failure(error)
        }
    }

    private func make(_ node: LiveNode, during attempt: LiveNode.Attempt) async -> Result<
        RunningComponent, BackplaneError
    > {
        let failed: BackplaneError
        do throws(BackplaneError) {
            try await startUsedManagers(of: node, during: attempt)
            do throws(BackplaneError) {
                try await startLayers(of: node, during: attempt)
                // A component that the node is wired to may restart while the successor starts.
                guard node.node.wires.allSatisfy({ live.nodes[$0.provider].running != nil }) else {
                    return await make(node, during: attempt)
                }
                return .success(try await makeItself(node))
            } catch {
                failed = error
                node.state = .failed(error, during: attempt)
            }
        } catch {
            failed = error
            node.state = .unsatisfied(error, during: attempt)
        }
        node.awaited = []
        node.gate.refuse(failed)
        live.remotes.close(node.node)
        return .failure(failed)
    }

    /// Starts the managers that a manager uses, concurrently.
    private func startUsedManagers(
        of node: LiveNode, during attempt: LiveNode.Attempt, in domain: isolated (any Actor)? = #isolation
    ) async throws(BackplaneError) {
        let used = node.node.wires.filter { live.nodes[$0.provider].node.role == .manager }.map {
            (label: $0.label, node: live.nodes[$0.provider])
        }
        for (_, provider) in used { try wait(for: provider, by: node, at: node.node.location) }
        let tasks = used.map { _, provider in
            Task {
                _ = domain
                return await start(provider, during: attempt)
            }
        }
        for ((label, provider), task) in zip(used, tasks) {
            if case .failure(let error) = await task.value {
                throw BackplaneError(
                    .dependencyUnsatisfied, "`\(provider.node.name)` did not start: \(error.origin.message)",
                    at: node.node.location + "/uses/" + label, causes: [error.origin])
            }
        }
    }

    /// Starts the collaborators of a manager, or the services of a communication controller, one after another.
    private func startLayers(of node: LiveNode, during attempt: LiveNode.Attempt) async throws(BackplaneError) {
        // A change may replace collaborators while one of them comes up.
        while let layer = live.loaded.plan.layers(of: node.node).lazy.map({ self.live.nodes[$0.id] }).first(where: {
            $0.running == nil
        }) {
            if live.isGone(layer), let handover = live.handover, !handover.hasEnded {
                await handover.wait()
            } else {
                try wait(for: layer, by: node, at: node.node.location)
                _ = try await start(layer, during: attempt).get()
            }
        }
    }

    /// Records that one node waits for another.
    ///
    /// - Throws: `manager.cycle` if the other node already waits for this one, which only lookups can cause.
    func wait(for provider: LiveNode, by node: LiveNode, at location: String? = nil, isLookUp: Bool = false)
        throws(BackplaneError)
    {
        if isLookUp || !lookUps.isEmpty, let way = provider.waits(for: node) {
            let names = ([node] + way).map(\.node.name).joined(separator: " → ")
            throw BackplaneError(
                .dependencyCycle,
                "the starting managers wait for one another: \(names); look one of them up later, when it is first called",
                at: location)
        }
        node.awaited.append(provider)
    }

    private func makeItself(_ node: LiveNode) async throws(BackplaneError) -> RunningComponent {
        do throws(BackplaneError) {
            let loaded = live.loaded
            try instances.number(node)
            let component = try await instances.make(node, of: loaded.componentClass(of: node.node), in: loaded) {
                live.nodes[$0].running
            }
            do throws(BackplaneError) {
                try await instances.activate(component)
            } catch {
                await instances.retire(component.handle, releasing: component.instance)
                throw error
            }
            node.state = .ready(component)
            node.awaited = []
            live.started.append(node)
            instances.data.keep(of: component)
            live.remotes.open(component.node, but: live.wires.open(component).refused)
            component.timers.begin()
            live.log(.debug, "started", component)
            return component
        } catch {
            instances.end(node)
            throw error
        }
    }
}

extension BackplaneError {
    /// The error of the first manager in a chain of managers that failed because of one another.
    fileprivate var origin: BackplaneError {
        code == .dependencyUnsatisfied ? causes.first ?? self : self
    }
}

/// The constraints of a swap in progress on starts and lookups.
///
/// They state the nodes that must not start, when to try again, and the managers that have returned.
final class Handover {
    /// The ids of the nodes that the swap starts.
    let incoming: Set<Int>
    /// The ids of the nodes that must not start during the swap.
    var withheld: Set<Int>
    /// The plan that a rollback activates again, once the way back has begun.
    var earlier: Plan?
    /// The managers that have returned during a rollback, by name, which lookups find in place of the rejected ones.
    var returned: [String: RunningComponent] = [:]
    /// The starts that wait for the swap.
    private(set) var waiting: [UnsafeContinuation<Void, Never>] = []
    /// Whether starts need not wait.
    private(set) var hasEnded = false

    init(incoming: Set<Int>, withheld: Set<Int>) {
        (self.incoming, self.withheld) = (incoming, withheld)
    }

    /// Waits until callers are served by the new code, or the swap has ended.
    func wait() async {
        if !hasEnded { await withUnsafeContinuation { waiting.append($0) } }
    }

    /// Makes starts wait again, because the old code is about to return.
    func beginAgain() { hasEnded = false }

    /// Resumes the waiting starts, and lets later ones pass.
    func end() {
        hasEnded = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
