/// What the boundary knows of one registered class; lives as long as the process.
final class ComponentRecord: Sendable {
    let description: ComponentDescription
    let wires: [DeclaredWire]
    let create: @Sendable (Creation) async throws -> Instance

    /// What an instance is made with, as copied from `bp_creation`.
    struct Creation: Sendable {
        var handle: UInt64
        /// JSON.
        var configuration: [UInt8]
        var slots: [String: Slot]
        var folder: String
        var resources: String
    }

    init<C: Component>(
        _ type: C.Type, version: Version, contract: ContractDescription, bodies: [(any MethodBody)?], wires: [DeclaredWire], services: HostServices
    ) where C.Context.Owner == C {
        description = ComponentDescription(
            role: C.Context.role, className: C.className, version: version,
            contract: C.Provides.self == NoContract.self ? nil : contract, wires: wires.map(\.description))
        self.wires = wires
        create = { creation in
            let services = ComponentServices(host: services, creation)
            let configuration = try JSON.decode(KnownAndUnknown<C.Configuration>.self, creation.configuration, failing: .configurationInvalid)
            for key in configuration.unknownKeys {
                services.log.warning("a key of the configuration is not known", metadata: ["key": key])
            }
            let parts = ContextParts<C>(
                configuration: configuration.value,
                wires: try C.Wires.connected(to: creation.slots), folder: creation.folder, services: services)
            let component: C
            do { component = try await C(C.Context(parts)) } catch {
                await services.tasks.stop()
                throw error
            }
            return Instance(component, bodies: bodies, tasks: services.tasks)
        }
    }
}
