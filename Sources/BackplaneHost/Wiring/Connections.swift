import Backplane

/// The wires of a host: the gates of those who are called, and what there is to say of every wire.
struct Connections {
    private let timer: DeadlineTimer
    private let options: HostOptions
    /// By the id of the node that is called.
    private var gates: [Int: Gate] = [:]
    /// By the id of the node that calls; `nil`: the host program.
    private var byUser: [Int?: [WireStatus]] = [:]
    private var comparisons = LayoutComparisons()

    init(timer: DeadlineTimer, _ options: HostOptions) {
        (self.timer, self.options) = (timer, options)
    }

    /// In the order in which their users were made, the host program's last.
    var statuses: [WireStatus] {
        byUser.sorted { ($0.key ?? .max) < ($1.key ?? .max) }.flatMap(\.value)
    }

    mutating func gate(of node: Plan.Node) -> Gate {
        if let gate = gates[node.id] { return gate }
        let gate = Gate(timer: timer)
        gates[node.id] = gate
        return gate
    }

    /// Connects one of a component's wires; `nil` for a label that its class does not declare.
    mutating func connect(
        _ node: Plan.Node, _ type: ComponentClass, number: UInt32, _ label: String, to provider: RunningComponent, _ providerType: ComponentClass
    ) -> ComponentStarter.Connection? {
        guard let consumer = type.consumerSide(ofWire: label) else { return nil }
        let slot = connect(node, consumer, number: number, label, to: provider, providerType) { type.makeCells(forWire: label, calling: provider.target) }
        let gate = gate(of: provider.node)
        let served = ServedWire(slot, at: gate, to: provider.calls, methods: consumer.contract.methods)
        return ComponentStarter.Connection(label: label, slot: slot, gate: gate, wire: served)
    }

    /// Connects a wire of the host program's own.
    mutating func connectProgram(
        _ consumer: LaneSide, to provider: RunningComponent, _ providerType: ComponentClass, makeCells: () -> Cells
    ) -> Slot {
        connect(nil, consumer, number: 0, provider.name, to: provider, providerType, makeCells: makeCells)
    }

    private mutating func connect(
        _ user: Plan.Node?, _ consumer: LaneSide, number: UInt32, _ label: String, to provider: RunningComponent, _ providerType: ComponentClass,
        makeCells: () -> Cells?
    ) -> Slot {
        let connector = Connector(provider: provider, type: providerType, options: options)
        let (binding, lane) = connector.connect(consumer, &comparisons, makeCells: makeCells)
        byUser[user?.id, default: []].append(
            WireStatus(
                user: user?.name, label: label, provider: provider.name, contract: consumer.contract.name, version: consumer.contract.version, lane: lane))
        return gate(of: provider.node).makeSlot(number: number, to: binding)
    }

    /// Closes the wires of a component that was not made after all.
    mutating func abandon(_ wires: [ComponentStarter.Connection], of node: Plan.Node) {
        for wire in wires { wire.gate.abandon(wire.slot) }
        byUser[node.id] = nil
    }
}
