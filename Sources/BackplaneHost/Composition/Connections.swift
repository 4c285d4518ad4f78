import Backplane

/// The wires of a host, from their users' slots to the components that are currently called.
struct Connections {
    /// A wire, open or not.
    private struct KnownWire {
        /// The id of the calling live node, or `nil` for the host program.
        let user: Int?
        let gate: Gate
        /// The calling end, or `nil` for calls by name, which need no contract.
        let consumer: ConsumerEnd?
        var status: WireStatus
        /// The wire's position in the order of creation.
        let order: Int
    }
    private let options: HostOptions
    private var known: [Slot: KnownWire] = [:]
    /// The slots, keyed by the id of the calling node.
    private var slots: [Int: [Slot]] = [:]
    /// The number of wires made so far.
    private(set) var made = 0
    private var comparisons = LayoutComparisons()
    private var fits = ContractFits()

    init(_ options: HostOptions) {
        self.options = options
    }

    /// The statuses in the order in which the users were created, followed by those of the host program.
    var statuses: [WireStatus] {
        known.values.filter { $0.consumer != nil }.sorted { ($0.user ?? .max, $0.order) < ($1.user ?? .max, $1.order) }
            .map(\.status)
    }

    /// Connects a wire of a component to a running provider.
    ///
    /// - Parameter isLater: A Boolean value that indicates whether a provider that does not serve the wire is about to
    ///   be swapped for one that does; calls are refused until then.
    mutating func connect(
        _ user: LiveNode, _ label: String, _ end: ConsumerEnd, to provider: RunningComponent, isLater: Bool = false
    ) -> OpenWire {
        let slot = makeSlot(user, label, end, to: provider, isLater: isLater)
        let wire = ServedWire(
            slot, at: provider.gate, methods: end.side.contract.methods, namesErrors: end.side.origin.revision == 0)
        return OpenWire(id: Callbacks.newID(), label: label, slot: slot, wire: wire)
    }

    /// Connects a wire of the host program.
    mutating func connectProgram(_ end: ConsumerEnd, to provider: RunningComponent) -> Slot {
        makeSlot(nil, provider.name, end, to: provider)
    }

    /// Connects the host program's calls by name.
    mutating func connectNames(to provider: RunningComponent) -> ServedWire {
        ServedWire(makeSlot(nil, provider.name, nil, to: provider), at: provider.gate, methods: [])
    }

    private mutating func makeSlot(
        _ user: LiveNode?, _ label: String, _ end: ConsumerEnd?, to provider: RunningComponent, isLater: Bool = false
    ) -> Slot {
        let (binding, lane) = Connector(provider: provider, options: options).connect(end, &comparisons)
        let refusal: BackplaneError? = if isLater, let end { refusal(of: provider, to: end) } else { nil }
        let contract = end?.side.contract ?? ContractDescription(name: "", version: Version(0))
        let slot = provider.gate.makeSlot(
            number: UInt32(user?.number ?? 0), to: binding, methods: contract.methods, refusal: refusal)
        made += 1
        known[slot] = KnownWire(
            user: user?.id, gate: provider.gate, consumer: end,
            status: WireStatus(
                user: user?.node.name, label: label, provider: provider.name, contract: contract.name,
                version: contract.version, lane: lane),
            order: made)
        if let user { slots[user.id, default: []].append(slot) }
        return slot
    }

    private func refusal(of provider: RunningComponent, to end: ConsumerEnd) -> BackplaneError? {
        provider.type.description.contract.difference(from: end.side.contract).map {
            provider.node.mismatch(with: end.side.contract, $0)
        }
    }

    /// Opens a component's gate, and connects every wire to its current instance, each through the suitable lane.
    ///
    /// - Returns: The slots that stay closed because their users need another contract, and the effect of the opening.
    @discardableResult
    mutating func open(_ provider: RunningComponent) -> (refused: Set<Slot>, opening: Gate.Opening) {
        let refused = lead(to: provider).refused
        return (refused, provider.gate.open())
    }

    /// Connects every wire of a component to another instance once its gate opens, each through the suitable lane.
    ///
    /// - Returns: The slots that will stay closed because their users need another contract, and the bindings of calls
    ///   admitted under an earlier decision.
    @discardableResult
    mutating func lead(to provider: RunningComponent) -> (refused: Set<Slot>, early: Set<Binding>) {
        let connector = Connector(provider: provider, options: options)
        var refused: Set<Slot> = []
        let early = provider.gate.lead(to: (provider.name, provider.node.entry.plugin)) { slot, old in
            guard let wire = known[slot] else { return .success(old) }
            if let refusal = wire.consumer.flatMap({ refusal(of: provider, to: $0) }) {
                refused.insert(slot)
                return .failure(refusal)
            }
            let (binding, lane) = connector.connect(wire.consumer, &comparisons)
            known[slot]?.status.lane = lane
            known[slot]?.status.provider = provider.name
            return .success(binding)
        }
        return (refused, early)
    }

    /// Closes the wires of a component that has stopped or whose creation failed.
    mutating func abandon(usedBy node: LiveNode) {
        for slot in slots.removeValue(forKey: node.id) ?? [] { abandon(slot) }
    }

    /// Closes a wire.
    mutating func abandon(_ slot: Slot) { known.removeValue(forKey: slot)?.gate.abandon(slot) }
}

// MARK: Queries

extension Connections {
    /// Returns the wires through a gate, except those of some users and those that call by name.
    func wires(to gate: Gate, but users: Set<Int>) -> [(user: Int?, status: WireStatus, end: ConsumerEnd)] {
        known.values.filter { $0.gate === gate && !($0.user.map(users.contains) ?? false) }.sorted {
            $0.order < $1.order
        }
        .compactMap { wire in wire.consumer.map { (wire.user, wire.status, $0) } }
    }

    /// Returns whether there is a wire that was made after a number of others, except those of some users and those
    /// that call by name.
    func hasWire(madeAfter number: Int, but users: Set<Int>) -> Bool {
        known.values.contains { wire in
            wire.order > number && wire.consumer != nil && !(wire.user.map(users.contains) ?? false)
        }
    }

    /// Returns the lane that a wire to a class would use.
    mutating func lane(of end: ConsumerEnd, to type: ComponentClass) -> WireStatus.Lane {
        let choice = LaneChoice(from: end.side, to: type.providerSide, options.lanes) { comparisons.difference($0, $1) }
        return WireStatus.Lane(choice, of: end.side)
    }

    /// Returns the fit of a wire's values to a class.
    mutating func fit(of end: ConsumerEnd, to type: ComponentClass) -> ContractFit {
        fits.fit(end.side, type.providerSide)
    }

    /// Returns descriptions of the callers with calls in flight through a gate.
    func callers(at gate: Gate) -> [String] {
        gate.slotsInFlight().compactMap { slot, calls in
            guard let wire = known[slot] else { return nil }
            let count = calls == 1 ? "1 call" : "\(calls) calls"
            guard wire.consumer != nil else { return "\(count) by name" }
            guard let user = wire.status.user else { return "\(count) of the host program" }
            return "\(count) of \(user) through its wire `\(wire.status.label)`"
        }
    }
}

/// The choice of the lane of a wire to one component, and the creation of the slot's binding.
struct Connector {
    let provider: RunningComponent
    let options: HostOptions

    /// Returns the binding and the lane for a wire.
    ///
    /// - Parameter consumer: The calling end, or `nil` for calls by name.
    func connect(_ consumer: ConsumerEnd?, _ comparisons: inout LayoutComparisons) -> (Binding, WireStatus.Lane) {
        guard let consumer else { return served([], "it is called by name") }
        let lane = LaneChoice(from: consumer.side, to: provider.type.providerSide, options.lanes) {
            comparisons.difference($0, $1)
        }
        switch (lane, provider.instance.nativeCells) {
        case (.native, let cells?):
            return (Binding(cells, counting: options.counting, keeper: provider.target), .native)
        case (.encoded(let reason), _): return encoded(consumer, reason)
        case (.native, nil): return encoded(consumer, "\(provider.name) has no native lane")
        }
    }

    private func encoded(_ consumer: ConsumerEnd, _ reason: String) -> (Binding, WireStatus.Lane) {
        guard let cells = consumer.makeCells(provider.target) else {
            return served(consumer.side.contract.methods, reason)
        }
        return (Binding(cells, counting: options.counting), .encoded(because: reason))
    }

    private func served(_ methods: [MethodDescription], _ reason: String) -> (Binding, WireStatus.Lane) {
        (Binding(keeping: ServedTarget(provider.calls, methods), counting: options.counting), .served(because: reason))
    }
}

/// The calling end of a wire: the contract as the caller compiled it, and the caller's encoded cells.
struct ConsumerEnd {
    let side: LaneSide
    /// The function that creates cells that call a target as JSON; it returns `nil` if the caller calls through the
    /// host.
    let makeCells: (EncodedTarget) -> Cells?
}

extension ComponentClass {
    /// Returns the calling end of one of the class's wires, or `nil` for a label that it does not declare.
    func consumerEnd(ofWire label: String) -> ConsumerEnd? {
        consumerSide(ofWire: label).map { side in ConsumerEnd(side: side) { makeCells(forWire: label, calling: $0) } }
    }
}
