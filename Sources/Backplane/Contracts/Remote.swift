/// What a host program or a test calls a manager by: `try await library.search(query)`.
///
/// The call frame is optional here; left out, a call has no deadline and no trace. What a member gives can be kept:
/// `let search = library.search`. After its host has stopped every call throws `call.retired`.
@dynamicMemberLookup @frozen
public struct Remote<C: Contract>: Sendable {
    @usableFromInline let slot: Slot

    package init(_ slot: Slot) { self.slot = slot }

    @inlinable @inline(__always)
    public subscript<M: Callable>(dynamicMember member: KeyPath<C, M>) -> M.Bound {
        M.bound(to: slot, member: memberNumber(of: member))
    }
}

/// An ``AsyncMethod`` of a ``Remote``.
@frozen
public struct BoundAsync<Input: Codable & Sendable, Output: Codable & Sendable>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call = Call()) async throws(BackplaneError) -> Output {
        try await slot.call(member, input, call)
    }
}

extension BoundAsync where Input == Nothing {
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call = Call()) async throws(BackplaneError) -> Output {
        try await slot.call(member, Nothing(), call)
    }
}

/// A ``SyncMethod`` of a ``Remote``.
@frozen
public struct BoundSync<Input: Codable & Sendable, Output: Codable & Sendable>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call = Call()) throws(BackplaneError) -> Output {
        try slot.callNow(member, input, call)
    }
}

extension BoundSync where Input == Nothing {
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call = Call()) throws(BackplaneError) -> Output {
        try slot.callNow(member, Nothing(), call)
    }
}
