/// What the boundary knows of one registered class; lives as long as the process.
final class ComponentRecord: Sendable {
    let description: ComponentDescription
    let wires: [DeclaredWire]
    /// Makes an instance from its JSON configuration, its slots by label, its folder and its handle.
    let create: @Sendable (_ configuration: [UInt8], _ slots: [String: Slot], _ folder: String, _ handle: UInt64) async throws -> Instance

    init<C: Component>(
        _ type: C.Type, version: Version, contract: ContractDescription, bodies: [(any MethodBody)?], wires: [DeclaredWire], services: HostServices
    ) where C.Context.Owner == C {
        description = ComponentDescription(
            role: C.Context.role, className: C.className, version: version,
            contract: C.Provides.self == NoContract.self ? nil : contract, wires: wires.map(\.description))
        self.wires = wires
        create = { configuration, slots, folder, handle in
            let services = ComponentServices(host: services, handle: handle)
            let parts = ContextParts<C>(
                configuration: try JSON.decode(C.Configuration.self, configuration, failing: .configurationInvalid),
                wires: try C.Wires.connected(to: slots), folder: folder, services: services)
            let component: C
            do { component = try await C(C.Context(parts)) } catch {
                await services.tasks.stop()
                throw error
            }
            return Instance(component, bodies: bodies, tasks: services.tasks)
        }
    }
}
