import Backplane
import BackplaneBoundary

extension Coordinator {
    /// Starts every eager manager and what it needs, independent ones at the same time.
    ///
    /// - Parameter keepGoing: what cannot be started is left, and its state says why.
    /// - Throws: all errors of the manifest, before anything starts; or why some did not start, all others being up.
    func startAll(keepGoing: Bool) async throws(BackplaneError) {
        try requireRunning()
        await settle()
        let loaded = loaded
        if !keepGoing { try loaded.requireSound() }
        hasStartedAll = true
        let errors = await start(loaded.eagerNames)
        try requireRunning()
        if !keepGoing, !errors.isEmpty { throw .combining(errors, of: "the start", at: loaded.document.path) }
    }

    /// Starts some managers, and gives the errors of those that did not come up: each once, however many need the same.
    ///
    /// Those that a change takes out meanwhile are nobody's concern any more.
    func start(_ managers: [String]) async -> [BackplaneError] {
        lastAttempt += 1
        let attempt = lastAttempt
        let tasks = managers.map { name in Task { await startIfThere(name, during: attempt) } }
        var errors: [BackplaneError] = []
        for task in tasks {
            guard let error = await task.value else { continue }
            let origin = error.origin
            if !errors.contains(origin) { errors.append(origin) }
        }
        return errors
    }

    private func startIfThere(_ manager: String, during attempt: LiveNode.Attempt) async -> BackplaneError? {
        await settle()
        guard let place = loaded.plan.managers[manager] else { return nil }
        let node = nodes[place]
        do throws(BackplaneError) {
            _ = try await start(node, during: attempt).get()
            // One that its class does not ask for may be missing after a change, though it has not noticed.
            if node.running != nil { try await startLayers(of: node, during: attempt) }
            node.awaited = []
            return nil
        } catch {
            if node.running != nil { node.awaited = [] }
            return error
        }
    }

    /// A manager by its name, started if it was not.
    func running(_ manager: String) async throws(BackplaneError) -> RunningComponent {
        try await live(manager).component
    }

    func live(_ manager: String) async throws(BackplaneError) -> (node: LiveNode, component: RunningComponent) {
        while true {
            try requireRunning()
            await settle()
            let place = try loaded.node(ofManager: manager).id, node = nodes[place]
            lastAttempt += 1
            let component = try await start(node, during: lastAttempt).get()
            // A change may have come between.
            if node.running === component { return (node, component) }
        }
    }

    /// Starts a node once, however many ask; one that failed before is tried again.
    func start(_ node: LiveNode, during attempt: LiveNode.Attempt) async -> Result<RunningComponent, BackplaneError> {
        if case .ready(let component) = node.state { return .success(component) }
        if case .starting(let task) = node.state { return await task.value }
        if let error = node.failure(during: attempt) { return .failure(error) }
        if node.isGone {
            giveUpHopelessLookUps()
            await settle()
            await swapUnderWay?.wait(on: self)
            return await startSuccessor(of: node, during: attempt)
        }
        if isStopped { return .failure(.hostHasStopped) }
        let task = Task { await make(node, during: attempt) }
        node.state = .starting(task)
        return await task.value
    }

    /// Whoever needs a manager that is being made anew needs the next one.
    private func startSuccessor(of node: LiveNode, during attempt: LiveNode.Attempt) async -> Result<RunningComponent, BackplaneError> {
        if isStopped { return .failure(.hostHasStopped) }
        guard node.node.role == .manager else { return .failure(.calledStopped) }
        do throws(BackplaneError) {
            let place = try loaded.node(ofManager: node.node.name).id
            return await start(nodes[place], during: attempt)
        } catch {
            return .failure(error)
        }
    }

    private func make(_ node: LiveNode, during attempt: LiveNode.Attempt) async -> Result<RunningComponent, BackplaneError> {
        let failed: BackplaneError
        do throws(BackplaneError) {
            try await startUsedManagers(of: node, during: attempt)
            do throws(BackplaneError) {
                try await startLayers(of: node, during: attempt)
                // One that it is wired to may be made anew while the next comes up.
                guard node.node.wires.allSatisfy({ nodes[$0.provider].running != nil }) else { return await make(node, during: attempt) }
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
        remotes.close(node.node)
        return .failure(failed)
    }

    /// The managers that a manager uses come up at the same time.
    private func startUsedManagers(of node: LiveNode, during attempt: LiveNode.Attempt) async throws(BackplaneError) {
        let used = node.node.wires.filter { nodes[$0.provider].node.role == .manager }.map { (label: $0.label, node: nodes[$0.provider]) }
        for (_, provider) in used { try wait(for: provider, by: node, at: node.node.location) }
        let tasks = used.map { _, provider in Task { await start(provider, during: attempt) } }
        for ((label, provider), task) in zip(used, tasks) {
            if case .failure(let error) = await task.value { throw node.node.unsatisfied(label, provider.node.name, error) }
        }
    }

    /// The layers of a manager, or the services of a communication controller, come up one after the other.
    private func startLayers(of node: LiveNode, during attempt: LiveNode.Attempt) async throws(BackplaneError) {
        // A change may put others in their places while one comes up.
        while let layer = loaded.plan.layers(of: node.node).lazy.map({ self.nodes[$0.id] }).first(where: { $0.running == nil }) {
            if layer.isGone, pause != nil {
                await settle()
            } else if layer.isGone, let swap = swapUnderWay {
                await swap.wait(on: self)
            } else {
                try wait(for: layer, by: node, at: node.node.location)
                _ = try await start(layer, during: attempt).get()
            }
        }
    }

    /// Notes that one node waits for another.
    ///
    /// - Throws: `manager.cycle` when that one waits for it already, which only look-ups can bring about.
    func wait(for provider: LiveNode, by node: LiveNode, at location: String? = nil, isLookUp: Bool = false) throws(BackplaneError) {
        if isLookUp || !lookUps.isEmpty, let way = provider.waits(for: node) {
            let names = ([node] + way).map(\.node.name).joined(separator: " → ")
            throw BackplaneError(
                .dependencyCycle, "while they start, each waits for the next: \(names); look one of them up later, when it is first called",
                at: location)
        }
        node.awaited.append(provider)
    }

    private func makeItself(_ live: LiveNode) async throws(BackplaneError) -> RunningComponent {
        let node = live.node
        do throws(BackplaneError) {
            let type = loaded.componentClass(of: node), number = try numbers.take(for: node)
            live.number = number
            let wires = connect(live, type)
            let component = try await starter.start(
                node, type, number: number, gate: live.gate, resources: loaded.resources(of: node), wires, finder(for: live, type))
            live.state = .ready(component)
            live.awaited = []
            started.append(live)
            remotes.open(node, but: connections.open(component).refused)
            log(.debug, "started", component)
            return component
        } catch {
            end(live)
            throw error
        }
    }

    /// Gives up what a node has while it lives.
    func end(_ live: LiveNode) {
        connections.abandon(usedBy: live)
        live.found = [:]
        if let number = live.number { numbers.giveBack(number) }
        live.number = nil
    }

    private func connect(_ live: LiveNode, _ type: ComponentClass) -> [ComponentStarter.Connection] {
        live.node.wires.compactMap { wire in
            guard let provider = nodes[wire.provider].running, let end = type.consumerEnd(ofWire: wire.label) else { return nil }
            return connections.connect(live, wire.label, end, to: provider)
        }
    }
}

extension Plan.Node {
    /// Why a manager cannot be made: one that it uses did not start.
    fileprivate func unsatisfied(_ label: String, _ used: String, _ error: BackplaneError) -> BackplaneError {
        BackplaneError(
            .dependencyUnsatisfied, "`\(used)` did not start: \(error.origin.message)", at: location + "/uses/" + label, causes: [error.origin])
    }
}

extension BackplaneError {
    static var hostHasStopped: BackplaneError { BackplaneError(.hostStopped, "the host has stopped; make a new one") }

    /// Of a chain of managers that could not be made because of one another, what the first of them died of.
    fileprivate var origin: BackplaneError {
        code == .dependencyUnsatisfied ? causes.first ?? self : self
    }
}
