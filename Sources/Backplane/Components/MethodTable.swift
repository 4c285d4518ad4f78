/// The bodies of a component's contract, written down once per class.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.search) { manager, query, call in try await manager.search(query, call) }
///     table.sync(\.count) { manager, _, _ in manager.count() }
/// }
/// ```
///
/// A body captures nothing: it is handed the component, the input and the call.
public struct MethodTable<C> {
    // `C` is a component, but does not have to be for this: the runtime would look for its conformance in all that is loaded.
    // Nor is it a dictionary, which would have it look for `Hashable`.
    private var bodies: [(any MethodBody)?] = []

    init() {}

    @inline(never) @usableFromInline
    mutating func set(_ member: Int, _ body: any MethodBody) {
        while bodies.count <= member { bodies.append(nil) }
        bodies[member] = body
    }

    /// `nil`: it was given none.
    func body(of member: Int) -> (any MethodBody)? { member < bodies.count ? bodies[member] : nil }
}

extension MethodTable where C: Component {
    /// Gives an ``AsyncMethod`` its body, which starts on its caller's actor.
    @inlinable @inline(__always)
    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {
        set(memberNumber(of: member), AsyncBody(of: C.self, body))
    }

    /// Gives a ``SyncMethod`` its body, which must not wait.
    @inlinable @inline(__always)
    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>,
        _ body: @escaping @Sendable (C, Input, Call) throws -> Output
    ) {
        set(memberNumber(of: member), SyncBody(of: C.self, body))
    }
}
