public import Backplane
public import BackplaneHost

/// A component that replaces another one of the same role in a test.
///
/// A fake consists of closures, which may capture the test's variables. A call of a member without a closure throws:
///
/// ```swift
/// Fake(LibraryNetwork.self) { network in
///     network.async(\.find) { query, _ in [mobyDick] }
/// }
/// ```
///
/// Alternatively, it uses a class of the test, which must have the same role:
/// `Fake(FakeBooks.self, configuration: ["fails": true])`.
///
/// If a fake does not provide the contract that its users require, the manifest has an error, as for any component.
public struct Fake: Sendable {
    /// The name of the replaced contract or class, used in class names such as `Fake.LibraryNetwork`.
    let name: String
    /// The labels of the class's wires, for which the fake keeps the collaborators of the replaced component.
    let labels: Set<String>
    let configuration: [String: ManifestValue]
    let register: @Sendable (_ registrar: inout Registrar, _ role: Role, _ className: String) -> Void

    /// Creates a fake from closures.
    ///
    /// - Parameters:
    ///   - contract: The contract that the fake provides.
    ///   - define: A function that sets the closures of the contract's members.
    public init<C: Contract>(_ contract: C.Type, _ define: (inout FakeMethods<C>) -> Void = { _ in }) {
        var methods = FakeMethods<C>()
        define(&methods)
        let bodies = methods.bodies
        (name, labels, configuration) = (C.name, [], [:])
        register = { registrar, role, className in registrar.add(bodies, as: role, named: className) }
    }

    /// Creates a fake from a class.
    ///
    /// - Parameters:
    ///   - type: The class, which must have the role of the component that it replaces.
    ///   - configuration: The configuration of the fake in the manifest.
    public init<C: Component>(_ type: C.Type, configuration: [String: ManifestValue] = [:]) where C.Context.Owner == C {
        (name, labels, self.configuration) = (C.className, Set(C.wireLabels), configuration)
        register = { registrar, _, className in registrar.add(type, named: className) }
    }
}

/// The closures of a contract's members.
public struct FakeMethods<C: Contract> {
    fileprivate var bodies = StandInBodies<C>()

    /// Sets the closure of an `AsyncMethod`.
    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C, AsyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, Call) async throws -> Output
    ) {
        bodies.async(member, body)
    }

    /// Sets the closure of a `SyncMethod`.
    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C, SyncMethod<Input, Output>>, _ body: @escaping @Sendable (Input, Call) throws -> Output
    ) {
        bodies.sync(member, body)
    }

    /// Sets the closure of a `StreamMethod`, which sends the elements and returns after the last one.
    public mutating func stream<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C, StreamMethod<Input, Element>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (Input, StreamSender<Element>, Call) async throws -> Void
    ) {
        bodies.stream(member, body)
    }
}
