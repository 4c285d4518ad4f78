/// What a component calls a collaborator by: `try await wires.books.search(query, call)`.
///
/// Every call passes on the frame of the call it serves, or begins one with `context.begin()`. What a member gives can be
/// kept: `let search = wires.books.search`. After the collaborator has stopped every call throws `call.retired`.
@dynamicMemberLookup @frozen
public struct Wire<C: Contract>: Sendable {
    @usableFromInline let slot: Slot

    package init(_ slot: Slot) { self.slot = slot }

    @inlinable @inline(__always)
    public subscript<M: Callable>(dynamicMember member: KeyPath<C, M>) -> M.Wired {
        M.wired(to: slot, member: memberNumber(of: member))
    }
}

/// An ``AsyncMethod`` of a ``Wire``.
@frozen
public struct WiredAsync<Input: Codable & Sendable, Output: Codable & Sendable>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) async throws(BackplaneError) -> Output {
        try await slot.call(member, input, call)
    }

    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction(_ input: Input) async throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension WiredAsync where Input == Nothing {
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) async throws(BackplaneError) -> Output {
        try await slot.call(member, Nothing(), call)
    }

    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction() async throws(BackplaneError) -> Output { fatalError("unavailable") }
}

/// A ``SyncMethod`` of a ``Wire``.
@frozen
public struct WiredSync<Input: Codable & Sendable, Output: Codable & Sendable>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) throws(BackplaneError) -> Output {
        try slot.callNow(member, input, call)
    }

    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction(_ input: Input) throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension WiredSync where Input == Nothing {
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) throws(BackplaneError) -> Output {
        try slot.callNow(member, Nothing(), call)
    }

    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction() throws(BackplaneError) -> Output { fatalError("unavailable") }
}
