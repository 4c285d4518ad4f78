import Backplane
import BackplaneBoundary

/// Components' look-ups.
extension Coordinator {
    func finder(for live: LiveNode, _ type: ComponentClass) -> ManagerFinder {
        let asker = live.id
        return ManagerFinder(
            asker: type,
            find: { [weak self] name, needed, call in
                guard let self else { return .failure(.askerStopped) }
                return await self.find(name, needed, for: asker, call)
            },
            providers: { [weak self] contract in
                guard let self else { return EncodedAnswer(BackplaneError.askerStopped) }
                return await self.providers(of: contract)
            })
    }

    private func find(_ manager: String, _ needed: NeededEnd, for asker: Int, _ call: Call?) async -> ManagerFinder.Found {
        do throws(BackplaneError) {
            return .success(try await connection(to: manager, needed, for: asker, call))
        } catch {
            return .failure(error)
        }
    }

    private func connection(
        to manager: String, _ needed: NeededEnd, for asker: Int, _ call: Call?
    ) async throws(BackplaneError) -> ComponentStarter.Connection {
        guard let user = nodesByID[asker] else { throw .askerStopped }
        try requireRunning()
        let contract = needed.side.contract, key = FoundWire(manager: manager, contract: contract, layout: needed.side.layout.read())
        // What it knows already it need not wait for while that is made anew: its calls do.
        if isStopping(manager), user.number != nil, let known = user.found[key] { return known }
        // Whoever is up, or stops just now, can be looked up whatever changes meanwhile, also by one that stops: its calls wait.
        while up(manager) == nil {
            try await lookUp(manager, by: user, call)
            try requireRunning()
        }
        guard let component = up(manager), user.number != nil else { throw .askerStopped }

        try component.node.requireService(of: contract)
        if let known = user.found[key] { return known }
        let end = ConsumerEnd(side: needed.side, makeCells: needed.makeCells)
        let connection = connections.connect(user, manager, end, to: component)
        user.found[key] = connection
        return connection
    }

    private func isStopping(_ manager: String) -> Bool {
        loaded.plan.managers[manager].map { nodes[$0].isStopping } ?? false
    }

    private func up(_ manager: String) -> RunningComponent? {
        loaded.plan.managers[manager].flatMap { nodes[$0].callable }
    }

    /// Starts a manager that is not up.
    private func lookUp(_ manager: String, by user: LiveNode, _ call: Call?) async throws(BackplaneError) {
        let place = try loaded.node(ofManager: manager).id, provider = nodes[place]
        if provider.leaves, swapUnderWay?.members.contains(where: { $0.new === user }) ?? false {
            throw BackplaneError(
                .dependencyUnsatisfied, "`\(manager)` is not up, and is swapped together with \(user.node.name); look it up later, when it is first called",
                at: user.node.location)
        }
        // Whoever waits here waits on behalf of all that wait for it: those whose call this is, too.
        let waiting = [user] + nodes(along: call).filter { $0 !== user }
        var edges: [LiveNode] = []
        defer { for node in edges { node.stopWaiting(for: provider) } }
        for node in waiting where node.running == nil {
            try wait(for: provider, by: node, isLookUp: true)
            edges.append(node)
        }
        lastLookUp += 1
        let id = lastLookUp
        let found = await withUnsafeContinuation { continuation in
            lookUps[id] = LookUp(manager: manager, waiting: waiting, continuation: continuation)
            giveUpHopelessLookUps()
            guard lookUps[id] != nil else { return }
            lastAttempt += 1
            Task { [attempt = lastAttempt] in end(id, await start(provider, during: attempt)) }
        }
        _ = try found.get()
    }

    private func nodes(along call: Call?) -> [LiveNode] {
        guard let path = call?.path, !path.isEmpty else { return [] }
        return nodes.filter { node in node.number.map(path.contains) ?? false }
    }

    private func end(_ lookUp: Int, _ found: Result<RunningComponent, BackplaneError>) {
        lookUps.removeValue(forKey: lookUp)?.continuation.resume(returning: found)
    }

    /// Ends the look-ups that wait for what comes up after a change, while the change waits for those who look up.
    func giveUpHopelessLookUps() {
        guard pause != nil else { return }
        for (id, lookUp) in lookUps where lookUp.waiting.contains(where: \.isStopping) {
            guard let provider = loaded.plan.managers[lookUp.manager].map({ nodes[$0] }), provider.waits(where: \.isGone) != nil else { continue }
            end(id, .failure(.askerStopped))
        }
    }

    /// Ends the look-ups of a component that nobody calls any more.
    func giveUpLookUps(of node: LiveNode) {
        for (id, lookUp) in lookUps where lookUp.waiting.first === node { end(id, .failure(.askerStopped)) }
    }

    private func providers(of needed: ContractDescription) -> EncodedAnswer {
        let plan = loaded.plan
        let found = plan.managers.map { (name: $0.key, entry: plan.nodes[$0.value].entry) }
            .filter { $0.entry.component.contract.difference(from: needed) == nil }
            .sorted { ($0.entry.order, $0.name) < ($1.entry.order, $1.name) }
            .map { ManagerDescription(name: $0.name, className: $0.entry.component.className, version: $0.entry.component.version, plugin: $0.entry.plugin) }
        do throws(BackplaneError) {
            return EncodedAnswer(try JSON.encode(found, failing: .callInvalidOutput))
        } catch {
            return EncodedAnswer(error)
        }
    }
}

/// A look-up that a component waits for.
struct LookUp {
    var manager: String
    /// Who looks up, and those on whose behalf.
    var waiting: [LiveNode]
    var continuation: UnsafeContinuation<Result<RunningComponent, BackplaneError>, Never>
}

extension LiveNode {
    fileprivate func stopWaiting(for provider: LiveNode) {
        if let index = awaited.firstIndex(where: { $0 === provider }) { awaited.remove(at: index) }
    }
}
