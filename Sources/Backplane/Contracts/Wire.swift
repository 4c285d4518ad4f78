/// A collaborator as called by a component: `try await wires.books.search(query, call)`.
///
/// Every call passes on the frame of the call being served, or begins one with `context.begin()`. Methods can be
/// stored: `let search = wires.books.search`. After the collaborator has stopped, every call throws `call.retired`.
@dynamicMemberLookup @frozen
public struct Wire<C: Contract>: Sendable {
    @usableFromInline let slot: Slot

    package init(_ slot: Slot) { self.slot = slot }

    /// Returns a method of the contract, bound to the collaborator.
    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, AsyncMethod<Input, Output>>
    ) -> BoundAsync<Input, Output, RequiredFrame> {
        BoundAsync(slot: slot, member: memberNumber(of: member))
    }

    /// Returns a synchronous method of the contract, bound to the collaborator.
    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, SyncMethod<Input, Output>>
    ) -> BoundSync<Input, Output, RequiredFrame> {
        BoundSync(slot: slot, member: memberNumber(of: member))
    }
    /// Returns a stream of the contract, bound to the collaborator.
    public subscript<Input: Sendable, Element: Sendable>(
        dynamicMember member: KeyPath<C, StreamMethod<Input, Element>>
    ) -> BoundStream<Input, Element, RequiredFrame> {
        BoundStream(slot: slot, member: memberNumber(of: member))
    }
}
