/// The boundary's record of a registered class, which lives as long as the process.
final class ComponentRecord: Sendable {
    let description: ComponentDescription
    let wires: [DeclaredWire]
    /// The values of the provided contract.
    let values: ContractValues
    let create: @Sendable (ReceivedCreation) async throws -> Instance
    /// Returns the keys of a configuration that its type does not declare; throws the error that ``create`` would
    /// throw.
    let review: Review
    /// A Boolean value that indicates whether instances accept another configuration.
    let isReconfigurable: Bool
    /// The type of the state, or `nil` without state.
    let state: NativeState?
    typealias Review = @Sendable (_ configuration: [UInt8]) throws(BackplaneError) -> [String]

    /// The arguments of a creation, copied from `bp_creation`.
    struct ReceivedCreation: Sendable {
        var handle: UInt64
        /// The configuration in JSON.
        var configuration: [UInt8]
        var connections: [ReceivedWire]
        var folder: String
        var resources: String
    }

    /// A wire of a component that is being created.
    struct ReceivedWire: Sendable {
        var label: String
        var wire: UInt64
        /// The slot of the wire; `nil` if the host has another lane revision, and the SDK creates the slot.
        var slot: Slot?
    }

    init(
        _ description: ComponentDescription, values: ContractValues, wires: [DeclaredWire],
        isReconfigurable: Bool = false,
        state: NativeState? = nil,
        review: @escaping Review,
        create: @escaping @Sendable (ReceivedCreation) async throws -> Instance
    ) {
        (self.description, self.values, self.wires, self.review, self.create) = (
            description, values, wires, review, create
        )
        (self.isReconfigurable, self.state) = (isReconfigurable, state)
    }

    /// Creates the record of a class in Swift.
    ///
    /// - Parameters:
    ///   - bodies: The methods, by their numbers in the contract.
    ///   - encoded: The methods that are called only in JSON, instead of `bodies`.
    ///   - make: A function that creates an instance from its context.
    convenience init<C: Component>(
        _ type: C.Type, named className: String, version: Version, contract: ContractDescription?,
        values: ContractValues,
        bodies: [(any MethodBody)?], encoded: [EncodedStart] = [],
        wires: [DeclaredWire], contracts: ContractRecords, state: StateDescription?, _ coding: _StateCoding<C>?,
        _ reconfiguration: _Reconfiguration<C>?, services: HostServices,
        make: @escaping @Sendable (C.Context) async throws -> C
    ) where C.Context.Owner == C {
        let description = ComponentDescription(
            role: C.Context.role, className: className, version: version,
            contract: contract, wires: wires.map(\.description),
            isExclusive: C.isExclusive, restartsOnSwap: C.restartOnSwap, state: state)
        let review: Review = { configuration throws(BackplaneError) in
            try KnownAndUnknown<C.Configuration>(configuration: configuration).unknownKeys
        }
        self.init(
            description, values: values, wires: wires, isReconfigurable: reconfiguration != nil,
            state: coding?.native, review: review
        ) { creation in
            let services = ComponentServices(host: services, contracts, creation)
            let configuration = try KnownAndUnknown<C.Configuration>(configuration: creation.configuration)
            services.log.unknownKeys(configuration.unknownKeys)
            let parts = ContextParts(
                configuration: configuration.value,
                wires: try C.Wires.connected(to: creation.slots(of: wires, services.host)), folder: creation.folder,
                services: services)
            let component: C
            do { component = try await make(C.Context.made(of: parts)) } catch {
                await services.tasks.stop()
                throw error
            }
            let reconfigure = reconfiguration.map { reconfiguration -> Instance.Reconfigure in
                { services.log.unknownKeys(try await reconfiguration.run(component, $0)) }
            }
            return Instance(
                component, bodies: bodies, encoded: encoded, tasks: services.tasks, coding, reconfigure: reconfigure)
        }
    }
}

extension Log {
    /// Logs a warning for each configuration key that the configuration's type does not declare.
    fileprivate func unknownKeys(_ keys: [String]) {
        for key in keys { warning("unknown configuration key", metadata: ["key": key]) }
    }
}

extension KnownAndUnknown {
    init(configuration: [UInt8]) throws(BackplaneError) {
        self = try JSON.decode(Self.self, configuration, failing: .configurationInvalid)
    }
}

extension ComponentRecord.ReceivedCreation {
    /// Returns the slots of the declared wires, each with its label.
    fileprivate func slots(of wires: [DeclaredWire], _ services: HostServices) -> [(label: String, slot: Slot)] {
        var slots: [(label: String, slot: Slot)] = []
        for connection in connections {
            let slot =
                connection.slot
                ?? wires.first { $0.description.label == connection.label }.flatMap {
                    $0.ownSlot(component: handle, wire: connection.wire, services)
                }
            if let slot { slots.append((connection.label, slot)) }
        }
        return slots
    }
}
