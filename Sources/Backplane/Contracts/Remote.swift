/// What a host program or a test calls a manager by: `try await library.search(query)`.
///
/// The call frame is optional here; left out, a call has no deadline and no trace. What a member gives can be kept:
/// `let search = library.search`. After its host has stopped every call throws `call.retired`.
@dynamicMemberLookup @frozen
public struct Remote<C: Contract>: Sendable {
    @usableFromInline let slot: Slot

    package init(_ slot: Slot) { self.slot = slot }

    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, AsyncMethod<Input, Output>>
    ) -> BoundAsync<Input, Output, OptionalFrame> {
        BoundAsync(slot: slot, member: memberNumber(of: member))
    }

    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, SyncMethod<Input, Output>>
    ) -> BoundSync<Input, Output, OptionalFrame> {
        BoundSync(slot: slot, member: memberNumber(of: member))
    }
}
