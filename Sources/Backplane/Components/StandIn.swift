/// A component made of closures that may capture values, used by tests in place of another component.
///
/// A stand-in has the role for which it is registered. It has no context, because it needs nothing from its host.
final class StandIn: Component {
    typealias Context = NetworkServiceContext<StandIn>

    init() {}
    init(_ context: Context) {}
}

/// The bodies of a contract's members, as closures.
///
/// A member without a closure throws an error when it is called.
package struct StandInBodies<C: Contract> {
    private(set) var bodies: [Int: any MethodBody] = [:]

    package init() {}

    package mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C, AsyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, Call) async throws -> Output
    ) {
        bodies[memberNumber(of: member)] = AsyncBody(of: StandIn.self) { _, input, call in try await body(input, call) }
    }

    package mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C, SyncMethod<Input, Output>>, _ body: @escaping @Sendable (Input, Call) throws -> Output
    ) {
        bodies[memberNumber(of: member)] = SyncBody(of: StandIn.self) { _, input, call in try body(input, call) }
    }

    package mutating func stream<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C, StreamMethod<Input, Element>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, StreamSender<Element>, Call) async throws -> Void
    ) {
        bodies[memberNumber(of: member)] = StreamBody(of: StandIn.self) { _, input, elements, call in
            try await body(input, elements, call)
        }
    }
}

extension Registrar {
    /// Adds a component without a class of its own.
    package mutating func add<C: Contract>(_ bodies: StandInBodies<C>, as role: Role, named className: String) {
        let contract = contracts.record(of: C.self)
        problems += contract.problems
        let all = contract.members.enumerated().map { number, member in
            bodies.bodies[number]
                ?? member.type.makeBody(
                    throwing: BackplaneError(
                        .callUnimplemented,
                        "\(className) replaces a \(C.name) but does not implement `\(member.name)`"))
        }
        records.append(
            ComponentRecord(
                ComponentDescription(
                    role: role, className: className, version: pluginVersion, contract: contract.description),
                values: contract.values, standingInWith: all))
    }
}

extension ComponentRecord {
    convenience init(
        _ description: ComponentDescription, values: ContractValues, standingInWith bodies: [any MethodBody]
    ) {
        self.init(description, values: values, wires: [], review: { _ in [] }) { _ in
            Instance(StandIn(), bodies: bodies, tasks: ComponentTasks(), nil)
        }
    }
}

extension AsyncMethod where Input: Codable, Output: Codable {
    static func makeBody(throwing error: BackplaneError) -> any MethodBody {
        AsyncBody<Input, Output>(of: StandIn.self) { _, _, _ in throw error }
    }
}

extension SyncMethod where Input: Codable, Output: Codable {
    static func makeBody(throwing error: BackplaneError) -> any MethodBody {
        SyncBody<Input, Output>(of: StandIn.self) { _, _, _ in throw error }
    }
}

extension Component {
    /// The labels of the collaborators that the class requires.
    package static var wireLabels: [String] {
        ((try? Wires.declared(ContractRecords())) ?? []).map(\.description.label)
    }
}
