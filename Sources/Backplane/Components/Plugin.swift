/// The name, the version and the component classes of a library.
///
/// A library has exactly one plugin, which the SDK finds:
///
/// ```swift
/// public struct HelloPlugin: Plugin {
///     public static let id = "org.example.hello"
///     public static let version: Version = "1.0.0"
///     public static func register(in registrar: inout Registrar) { registrar.add(Greeter.self) }
/// }
/// ```
///
/// The type is public, because the optimiser drops an internal struct that no code uses. A program, such as a test, can
/// link any number of plugins, and refers to them by name.
public protocol Plugin: SendableMetatype {
    /// The unique id of the plugin: a reverse domain name such as `org.example.hello`.
    static var id: String { get }
    /// The version of the plugin, which is also the default version of its components.
    static var version: Version { get }
    /// Adds the plugin's components.
    ///
    /// The function only describes components: it performs no I/O and starts no threads.
    static func register(in registrar: inout Registrar)
}

/// The registry to which a plugin adds its component classes.
public struct Registrar {
    var records: [ComponentRecord] = []
    var problems: [String] = []
    let contracts = ContractRecords()
    let services: HostServices
    let pluginVersion: Version

    init(services: HostServices, pluginVersion: Version) {
        (self.services, self.pluginVersion) = (services, pluginVersion)
    }

    /// Adds a component class under its own name.
    public mutating func add<C: Component>(_ type: C.Type) where C.Context.Owner == C {
        add(type, named: C.className)
    }

    /// Adds a class under a different name, so that it can coexist with a class of its original name.
    package mutating func add<C: Component>(_ type: C.Type, named className: String) where C.Context.Owner == C {
        let contract = contracts.record(of: C.Provides.self)
        problems += contract.problems
        var table = MethodTable<C>()
        C.methods(&table)
        for (number, member) in contract.members.enumerated() where table.body(of: number) == nil {
            problems.append("\(C.className) provides \(C.Provides.name) but does not implement `\(member.name)`")
        }
        var wires: [DeclaredWire] = []
        do { wires = try C.Wires.declared(contracts) } catch { problems.append("\(C.className).Wires: \(error)") }
        problems += wires.flatMap(\.problems)
        let coding = C._stateCoding
        var state: StateDescription?
        do throws(BackplaneError) { state = try coding?.schema.description(of: C.className) } catch {
            problems.append(error.message)
        }
        records.append(
            ComponentRecord(
                type, named: className, version: C.version == .ofPlugin ? pluginVersion : C.version,
                contract: C.Provides.self == NoContract.self ? nil : contract.description, values: contract.values,
                bodies: contract.members.indices.map { table.body(of: $0) }, wires: wires,
                contracts: contracts,
                state: state, coding, C._reconfiguration, services: services
            ) { try await C($0) })
    }
}
