/// What a library brings: its name, its version and its component classes.
///
/// The library exports one function that hands over to it:
///
/// ```swift
/// @c @implementation
/// public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
///     HelloPlugin.enter(offer, answer)
/// }
/// ```
public protocol Plugin: SendableMetatype {
    /// Tells it from every other plugin: a reverse domain name such as `org.example.hello`.
    static var id: String { get }
    static var version: Version { get }
    /// Adds its components; describes, and does nothing else.
    static func register(in registrar: inout Registrar)
}

/// What a plugin adds its component classes to.
public struct Registrar {
    var records: [ComponentRecord] = []
    var problems: [String] = []
    let contracts = ContractRecords()
    let services: HostServices
    let pluginVersion: Version

    init(services: HostServices, pluginVersion: Version) {
        (self.services, self.pluginVersion) = (services, pluginVersion)
    }

    public mutating func add<C: Component>(_ type: C.Type) where C.Context.Owner == C {
        add(type, named: C.className)
    }

    /// Adds a class under a name that is not its own, so that it can stand beside its namesake.
    package mutating func add<C: Component>(_ type: C.Type, named className: String) where C.Context.Owner == C {
        let contract = contracts.record(of: C.Provides.self)
        problems += contract.problems
        var table = MethodTable<C>()
        C.methods(&table)
        for (number, member) in contract.members.enumerated() where table.body(of: number) == nil {
            problems.append("\(C.className) provides \(C.Provides.name) and gives `\(member.name)` no body")
        }
        var wires: [DeclaredWire] = []
        do { wires = try C.Wires.declared(contracts) } catch { problems.append("\(C.className).Wires: \(error)") }
        problems += wires.flatMap(\.problems)
        let coding = C._stateCoding
        var state: StateDescription?
        do throws(BackplaneError) { state = try coding?.schema.description(of: C.className) } catch { problems.append(error.message) }
        records.append(
            ComponentRecord(
                type, named: className, version: C.version == .ofPlugin ? pluginVersion : C.version,
                contract: contract, bodies: contract.members.indices.map { table.body(of: $0) }, wires: wires, contracts: contracts,
                state: state, coding, services: services))
    }
}
