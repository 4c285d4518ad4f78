/// A manager as called by a host program or a test: `try await library.search(query)`.
///
/// The call frame is optional here; without one, a call has no deadline and no trace. Methods can be stored:
/// `let search = library.search`. After the host has stopped, every call throws `call.retired`.
@dynamicMemberLookup @frozen
public struct Remote<C: Contract>: Sendable {
    @usableFromInline let slot: Slot

    package init(_ slot: Slot) { self.slot = slot }

    /// Returns a method of the contract, bound to the manager.
    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, AsyncMethod<Input, Output>>
    ) -> BoundAsync<Input, Output, OptionalFrame> {
        BoundAsync(slot: slot, member: memberNumber(of: member))
    }

    /// Returns a synchronous method of the contract, bound to the manager.
    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, SyncMethod<Input, Output>>
    ) -> BoundSync<Input, Output, OptionalFrame> {
        BoundSync(slot: slot, member: memberNumber(of: member))
    }
    /// Returns a stream of the contract, bound to the manager.
    public subscript<Input: Sendable, Element: Sendable>(
        dynamicMember member: KeyPath<C, StreamMethod<Input, Element>>
    ) -> BoundStream<Input, Element, OptionalFrame> {
        BoundStream(slot: slot, member: memberNumber(of: member))
    }
}
