/// What the boundary knows of one registered class; lives as long as the process.
final class ComponentRecord: Sendable {
    let description: ComponentDescription
    let wires: [DeclaredWire]
    /// How this side compiled the contract it provides (``ContractLayout``).
    let layout: KeptText
    let create: @Sendable (Creation) async throws -> Instance

    /// What an instance is made with, as copied from `bp_creation`.
    struct Creation: Sendable {
        var handle: UInt64
        /// JSON.
        var configuration: [UInt8]
        var connections: [Connection]
        var folder: String
        var resources: String
    }

    /// One of its wires.
    struct Connection: Sendable {
        var label: String
        var wire: UInt64
        /// `nil`: the host speaks another lane revision, and the SDK makes the slot itself.
        var slot: Slot?
    }

    init(
        _ description: ComponentDescription, layout: KeptText, wires: [DeclaredWire], create: @escaping @Sendable (Creation) async throws -> Instance
    ) {
        (self.description, self.layout, self.wires, self.create) = (description, layout, wires, create)
    }

    convenience init<C: Component>(
        _ type: C.Type, named className: String, version: Version, contract: ContractRecords.Record, bodies: [(any MethodBody)?],
        wires: [DeclaredWire], services: HostServices
    ) where C.Context.Owner == C {
        let description = ComponentDescription(
            role: C.Context.role, className: className, version: version,
            contract: C.Provides.self == NoContract.self ? nil : contract.description, wires: wires.map(\.description))
        self.init(description, layout: contract.layout, wires: wires) { creation in
            let services = ComponentServices(host: services, creation)
            let configuration = try JSON.decode(KnownAndUnknown<C.Configuration>.self, creation.configuration, failing: .configurationInvalid)
            for key in configuration.unknownKeys {
                services.log.warning("a key of the configuration is not known", metadata: ["key": key])
            }
            let parts = ContextParts<C>(
                configuration: configuration.value,
                wires: try C.Wires.connected(to: creation.slots(of: wires, services.host)), folder: creation.folder, services: services)
            let component: C
            do { component = try await C(C.Context(parts)) } catch {
                await services.tasks.stop()
                throw error
            }
            return Instance(component, bodies: bodies, tasks: services.tasks)
        }
    }
}

extension ComponentRecord.Creation {
    /// The slots of the declared wires, by label.
    fileprivate func slots(of wires: [DeclaredWire], _ services: HostServices) -> [String: Slot] {
        var slots: [String: Slot] = [:]
        for connection in connections {
            slots[connection.label] = connection.slot ?? wires.first { $0.description.label == connection.label }.flatMap { ownSlot(of: $0, connection, services) }
        }
        return slots
    }

    /// A slot with one binding for good, whose cells call through the host.
    private func ownSlot(of wire: DeclaredWire, _ connection: ComponentRecord.Connection, _ services: HostServices) -> Slot? {
        let methods = wire.description.contract.methods
        guard let target = EncodedTarget(through: services, component: handle, wire: connection.wire, methods: methods) else { return nil }
        // The host appends the component to the path itself.
        let slot = Slot(number: 0, gatekeeper: NoEntry())
        slot.flip(to: Binding(wire.makeCells(target), counting: .atomic))
        return slot
    }
}
