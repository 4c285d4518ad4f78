/// The bodies of the methods in a component's contract, defined once per class.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.search) { manager, query, call in try await manager.search(query, call) }
///     table.sync(\.count) { manager, _, _ in manager.count() }
/// }
/// ```
///
/// A body captures nothing: it receives the component, the input and the call.
public struct MethodTable<C> {
    // `C` is always a component, but declaring that would make the runtime search every loaded image for the
    // conformance. A dictionary would make it search for `Hashable`.
    private var bodies: [(any MethodBody)?] = []

    init() {}

    @inline(never) @usableFromInline
    mutating func set(_ member: Int, _ body: any MethodBody) {
        while bodies.count <= member { bodies.append(nil) }
        bodies[member] = body
    }

    /// Returns the body of a member, or `nil` if none was set.
    func body(of member: Int) -> (any MethodBody)? { member < bodies.count ? bodies[member] : nil }
}

extension MethodTable where C: Component {
    /// Sets the body of an ``AsyncMethod``, which starts on its caller's actor.
    ///
    /// - Parameters:
    ///   - member: The method in the contract.
    ///   - body: A function that receives the component, the input and the frame to pass on to other calls.
    @inlinable @inline(__always)
    public mutating func async<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, AsyncMethod<Input, Output>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output
    ) {
        set(memberNumber(of: member), AsyncBody(of: C.self, body))
    }

    /// Sets the body of a ``SyncMethod``; the body must not block.
    ///
    /// - Parameters:
    ///   - member: The method in the contract.
    ///   - body: A function that receives the component, the input and the frame to pass on to other calls.
    @inlinable @inline(__always)
    public mutating func sync<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ member: KeyPath<C.Provides, SyncMethod<Input, Output>>,
        _ body: @escaping @Sendable (C, Input, Call) throws -> Output
    ) {
        set(memberNumber(of: member), SyncBody(of: C.self, body))
    }

    /// Sets the body of a ``StreamMethod``, which sends the elements and returns after the last one.
    ///
    /// The body runs in a separate task, which is cancelled when the consumer needs no further elements, and when the
    /// component is swapped or stopped. It may outlast the component's `suspend`, and must not change exported state
    /// during that time.
    ///
    /// - Parameters:
    ///   - member: The stream in the contract.
    ///   - body: A function that receives the component, the input, the sender of elements and the frame to pass on to
    ///     other calls.
    @inlinable @inline(__always)
    public mutating func stream<Input: Codable & Sendable, Element: Codable & Sendable>(
        _ member: KeyPath<C.Provides, StreamMethod<Input, Element>>,
        _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, StreamSender<Element>, Call) async throws -> Void
    ) {
        set(memberNumber(of: member), StreamBody(of: C.self, body))
    }
}
