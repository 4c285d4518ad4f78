public import Backplane
public import BackplaneHost

/// A component that stands in for another in a test, in the role of what it replaces.
///
/// Made of closures, which may capture what the test wants to see; a member without one throws when it is called:
///
/// ```swift
/// Fake(LibraryNetwork.self) { network in
///     network.async(\.find) { query, _ in [mobyDick] }
/// }
/// ```
///
/// or of a class of the test's own, which must have that role: `Fake(FakeBooks.self, configuration: ["fails": true])`.
///
/// One that does not provide what its users ask for is a problem of the manifest, as any other component would be.
public struct Fake: Sendable {
    /// What it stands in for, in class names such as `Fake.LibraryNetwork`.
    let name: String
    /// What its class asks for by label; of what it replaces it keeps these collaborators.
    let labels: Set<String>
    let configuration: [String: ManifestValue]
    let register: @Sendable (_ registrar: inout Registrar, _ role: Role, _ className: String) -> Void

    /// One made of closures.
    public init<C: Contract>(_ contract: C.Type, _ define: (inout FakeMethods<C>) -> Void = { _ in }) {
        var methods = FakeMethods<C>()
        define(&methods)
        let bodies = methods.bodies
        (name, labels, configuration) = (C.name, [], [:])
        register = { registrar, role, className in registrar.add(bodies, as: role, named: className) }
    }

    /// One with a class.
    public init<C: Component>(_ type: C.Type, configuration: [String: ManifestValue] = [:]) where C.Context.Owner == C {
        (name, labels, self.configuration) = (C.className, Set(C.wireLabels), configuration)
        register = { registrar, _, className in registrar.add(type, named: className) }
    }
}

/// What the members of a contract do, as closures.
public struct FakeMethods<C: Contract> {
    fileprivate var bodies = StandInBodies<C>()

    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C, AsyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, Call) async throws -> Output
    ) {
        bodies.async(member, body)
    }

    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C, SyncMethod<Input, Output>>, _ body: @escaping @Sendable (Input, Call) throws -> Output
    ) {
        bodies.sync(member, body)
    }
}
