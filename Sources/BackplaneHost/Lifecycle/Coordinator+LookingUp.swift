import Backplane

/// The host program's look-ups.
extension Coordinator {
    func slot<C: Contract>(to manager: String, as _: C.Type) async throws(BackplaneError) -> Slot {
        let component = try await running(manager)
        if let slot = remotes.find(manager, C.self) { return slot }
        try requireRunning()
        let consumer = try LaneSide(program: C.self)
        try component.node.requireService(of: consumer.contract)
        let slot = connections.connectProgram(consumer, to: component, loaded.componentClass(of: component.node)) { Cells(C.self, calling: $0) }
        remotes.add(slot, manager, C.self)
        return slot
    }

    /// The slot of a manager that was looked up before; takes no turn on the coordinator's thread.
    nonisolated func knownSlot<C: Contract>(to manager: String, as _: C.Type) -> Slot? {
        remotes.find(manager, C.self)
    }

    /// The gate of a manager, started if it was not.
    func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await live(manager).node.gate
    }
}

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
        try requireRunning()
        if isLeaving(asker) { throw .askerStopped }
        await settle()
        guard let user = nodes.first(where: { $0.id == asker }), !user.isLeaving else { throw .askerStopped }
        let place = try loaded.node(ofManager: manager).id, provider = nodes[place]
        // Whoever waits here waits on behalf of all that wait for it: those whose call this is, too.
        let waiting = [user] + nodes.filter { node in node !== user && node.number.map { call?.path.contains($0) ?? false } ?? false }
        let starting = waiting.filter { $0.running == nil }
        lookUpsUnderWay += 1
        defer {
            lookUpsUnderWay -= 1
            for node in starting { node.stopWaiting(for: provider) }
        }
        if provider.running == nil { for node in starting { try wait(for: provider, by: node) } }
        lastAttempt += 1
        let component = try await start(provider, during: lastAttempt).get()

        let contract = needed.side.contract
        try component.node.requireService(of: contract)
        guard user.number != nil else { throw .askerStopped }
        let key = FoundWire(manager: manager, contract: contract, layout: needed.side.layout.read())
        if let known = user.found[key] { return known }
        let end = ConsumerEnd(side: needed.side, makeCells: needed.makeCells)
        let connection = connections.connect(user, manager, end, to: component, loaded.componentClass(of: component.node))
        user.found[key] = connection
        return connection
    }

    /// Does a component stop, or has it stopped?
    private func isLeaving(_ id: Int) -> Bool {
        nodes.first { $0.id == id }?.isLeaving ?? true
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

extension LiveNode {
    fileprivate func stopWaiting(for provider: LiveNode) {
        if let index = awaited.firstIndex(where: { $0 === provider }) { awaited.remove(at: index) }
    }
}
