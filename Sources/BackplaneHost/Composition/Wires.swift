import Backplane

/// The wires of a host, from their users' slots to the components that are currently called.
struct Wires {
    private struct KnownWire {
        /// The id of the calling live node, or `nil` for the host program.
        let user: Int?
        let gate: Gate
        /// The calling end, or `nil` for calls by name, which need no contract.
        let consumer: ConsumerEnd?
        var status: WireStatus
        let order: Int
    }
    private let options: HostOptions
    private var known: [Slot: KnownWire] = [:]
    /// The slots, keyed by the id of the calling node.
    private var slots: [Int: [Slot]] = [:]
    /// The number of wires made so far.
    private(set) var made = 0
    private var comparisons = PairCache<String?>()
    private var fits = PairCache<ContractFit>()

    init(_ options: HostOptions) {
        self.options = options
    }

    /// The statuses in the order in which the users were created; the wires of the host program come last.
    var statuses: [WireStatus] {
        known.values.filter { $0.consumer != nil }.sorted { ($0.user ?? .max, $0.order) < ($1.user ?? .max, $1.order) }
            .map(\.status)
    }

    /// Connects a wire of a component to a running provider.
    ///
    /// A provider that does not serve the wire is about to be swapped for one that does. Calls are refused until then.
    mutating func connect(
        _ user: LiveNode, _ label: String, _ end: ConsumerEnd, to provider: RunningComponent
    ) -> OpenWire {
        let slot = makeSlot(user, label, end, to: provider)
        let wire = ServedWire(
            slot, at: provider.gate, methods: end.side.contract.methods, namesErrors: end.side.origin.revision == 0)
        return OpenWire(id: Callbacks.newID(), label: label, slot: slot, wire: wire)
    }

    mutating func connectProgram(_ end: ConsumerEnd, to provider: RunningComponent) -> Slot {
        makeSlot(nil, provider.name, end, to: provider)
    }

    mutating func connectNames(to provider: RunningComponent) -> ServedWire {
        ServedWire(makeSlot(nil, provider.name, nil, to: provider), at: provider.gate, methods: [])
    }

    private mutating func makeSlot(
        _ user: LiveNode?, _ label: String, _ end: ConsumerEnd?, to provider: RunningComponent
    ) -> Slot {
        let (binding, lane) = bind(end, to: provider), refusal = end.flatMap { self.refusal(of: provider, to: $0) }
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

    /// Chooses the lane of a wire to a component, and creates the binding of its slot.
    ///
    /// - Parameter consumer: The calling end, or `nil` for calls by name.
    private mutating func bind(_ consumer: ConsumerEnd?, to provider: RunningComponent) -> (Binding, Lane) {
        var lane = Lane.encoded(because: "it is called by name")
        if let consumer { lane = self.lane(of: consumer, to: provider.type) }
        if lane == .native {
            if let cells = provider.instance.nativeCells {
                return (Binding(cells, counting: options.counting, keeper: provider.target), .native)
            }
            lane = .encoded(because: "\(provider.name) has no native lane")
        }
        if let cells = consumer?.makeCells(provider.target) {
            return (Binding(cells, counting: options.counting), lane)
        }
        // The host makes the calls of a plugin without the Swift SDK or with another revision of it, and calls by name.
        let target = ServedTarget(provider.calls, consumer?.side.contract.methods ?? [])
        return (Binding(keeping: target, counting: options.counting), lane)
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
        var refused: Set<Slot> = []
        let early = provider.gate.lead(to: (provider.name, provider.node.entry.plugin)) { slot, old in
            guard let wire = known[slot] else { return .success(old) }
            if let refusal = wire.consumer.flatMap({ refusal(of: provider, to: $0) }) {
                refused.insert(slot)
                return .failure(refusal)
            }
            let (binding, lane) = bind(wire.consumer, to: provider)
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

    mutating func abandon(_ slot: Slot) { known.removeValue(forKey: slot)?.gate.abandon(slot) }
}

extension Wires {
    /// Returns the wires through a gate, except the wires of some users and wires for calls by name.
    func through(_ gate: Gate, but users: Set<Int>) -> [(user: Int?, status: WireStatus, end: ConsumerEnd)] {
        known.values.filter { $0.gate === gate && !($0.user.map(users.contains) ?? false) }.sorted {
            $0.order < $1.order
        }
        .compactMap { wire in wire.consumer.map { (wire.user, wire.status, $0) } }
    }

    /// Returns whether there is a wire that was made after a number of others, except the wires of some users and wires
    /// for calls by name.
    func hasWire(madeAfter number: Int, but users: Set<Int>) -> Bool {
        known.values.contains { wire in
            wire.order > number && wire.consumer != nil && !(wire.user.map(users.contains) ?? false)
        }
    }

    /// Returns the lane that a wire to a class would use.
    mutating func lane(of end: ConsumerEnd, to type: ComponentClass) -> Lane {
        Lane(from: end.side, to: type.providerSide, options.lanes) { comparisons.difference($0, $1) }
    }

    /// Returns the fit of a wire's values to a class; the plugins of both encode and decode samples for it.
    ///
    /// The result is computed once, because callers wait during the last comparison before a flip.
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
