import Backplane

/// The wires of a host, from their users' slots to whoever is called now.
struct Connections {
    /// One wire, open or not.
    private struct Connection {
        /// The id of the live node that calls; `nil`: the host program.
        let user: Int?
        let gate: Gate
        let consumer: LaneSide
        let makeCells: (EncodedTarget) -> Cells?
        /// For a user that calls through the host.
        var served: ServedWire?
        var status: WireStatus
        /// Its place among all that were made.
        let order: Int
    }
    private let options: HostOptions
    private var connections: [Slot: Connection] = [:]
    /// By the id of the live node that calls.
    private var slots: [Int: [Slot]] = [:]
    private var made = 0
    private var comparisons = LayoutComparisons()

    init(_ options: HostOptions) {
        self.options = options
    }

    /// In the order in which their users were made, the host program's last.
    var statuses: [WireStatus] {
        connections.values.sorted { ($0.user ?? .max, $0.order) < ($1.user ?? .max, $1.order) }.map(\.status)
    }

    /// Connects a wire of a component to one that is up.
    mutating func connect(
        _ user: LiveNode, _ label: String, _ end: ConsumerEnd, to provider: RunningComponent
    ) -> ComponentStarter.Connection {
        let slot = connect(user, label, end.side, to: provider, end.makeCells)
        let served = ServedWire(slot, at: provider.gate, to: provider.calls, methods: end.side.contract.methods)
        connections[slot]?.served = served
        return ComponentStarter.Connection(id: Callbacks.newID(), label: label, slot: slot, wire: served)
    }

    /// Connects a wire of the host program's own.
    mutating func connectProgram(
        _ consumer: LaneSide, to provider: RunningComponent, _ makeCells: @escaping (EncodedTarget) -> Cells
    ) -> Slot {
        connect(nil, provider.name, consumer, to: provider, makeCells)
    }

    private mutating func connect(
        _ user: LiveNode?, _ label: String, _ consumer: LaneSide, to provider: RunningComponent, _ makeCells: @escaping (EncodedTarget) -> Cells?
    ) -> Slot {
        let connector = Connector(provider: provider, options: options)
        let (binding, lane) = connector.connect(consumer, &comparisons) { makeCells(provider.target) }
        let slot = provider.gate.makeSlot(number: UInt32(user?.number ?? 0), to: binding)
        made += 1
        let status = WireStatus(
            user: user?.node.name, label: label, provider: provider.name, contract: consumer.contract.name, version: consumer.contract.version, lane: lane)
        connections[slot] = Connection(user: user?.id, gate: provider.gate, consumer: consumer, makeCells: makeCells, status: status, order: made)
        if let user { slots[user.id, default: []].append(slot) }
        return slot
    }

    /// Opens a component's gate, and leads every wire to it to the instance that is up now, each by the lane that fits.
    ///
    /// - Returns: the slots that stay closed, since their users want another contract.
    mutating func open(_ provider: RunningComponent) -> Set<Slot> {
        let connector = Connector(provider: provider, options: options)
        var refused: Set<Slot> = []
        provider.gate.open(deciding: { slot, old in
            guard var connection = connections[slot] else { return .success(old) }
            if let difference = provider.type.description.contract.difference(from: connection.consumer.contract) {
                refused.insert(slot)
                return .failure(provider.node.mismatch(with: connection.consumer.contract, difference))
            }
            let (binding, lane) = connector.connect(connection.consumer, &comparisons) { connection.makeCells(provider.target) }
            connection.status.lane = lane
            connection.served?.redirect(to: provider.calls)
            connections[slot] = connection
            return .success(binding)
        })
        return refused
    }

    /// Closes the wires of a component that has stopped, or was not made after all.
    mutating func abandon(usedBy node: LiveNode) {
        for slot in slots.removeValue(forKey: node.id) ?? [] {
            connections.removeValue(forKey: slot)?.gate.abandon(slot)
        }
    }
}
