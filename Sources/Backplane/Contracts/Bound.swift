/// An ``AsyncMethod`` of a ``Wire`` or of a ``Remote``: it can be kept, and called whenever it is needed.
@frozen
public struct BoundAsync<Input: Sendable, Output: Sendable, Frame>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) async throws(BackplaneError) -> Output {
        try await slot.call(member, input, call)
    }
}

extension BoundAsync where Input == Nothing {
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) async throws(BackplaneError) -> Output {
        try await slot.call(member, Nothing(), call)
    }
}

/// A ``SyncMethod`` of a ``Wire`` or of a ``Remote``: it can be kept, and called whenever it is needed.
@frozen
public struct BoundSync<Input: Sendable, Output: Sendable, Frame>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) throws(BackplaneError) -> Output {
        try slot.callNow(member, input, call)
    }
}

extension BoundSync where Input == Nothing {
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) throws(BackplaneError) -> Output {
        try slot.callNow(member, Nothing(), call)
    }
}

// MARK: Without a frame

/// The mark of what a ``Remote`` gives: the call frame may be left out.
public enum OptionalFrame {}

extension BoundAsync where Frame == OptionalFrame {
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input) async throws(BackplaneError) -> Output {
        try await slot.call(member, input, Call())
    }
}

extension BoundAsync where Input == Nothing, Frame == OptionalFrame {
    @inlinable @inline(__always)
    public func callAsFunction() async throws(BackplaneError) -> Output {
        try await slot.call(member, Nothing(), Call())
    }
}

extension BoundSync where Frame == OptionalFrame {
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input) throws(BackplaneError) -> Output {
        try slot.callNow(member, input, Call())
    }
}

extension BoundSync where Input == Nothing, Frame == OptionalFrame {
    @inlinable @inline(__always)
    public func callAsFunction() throws(BackplaneError) -> Output {
        try slot.callNow(member, Nothing(), Call())
    }
}

/// The mark of what a ``Wire`` gives: a component passes on the frame of the call it serves, or begins one with `context.begin()`.
public enum RequiredFrame {}

extension BoundAsync where Frame == RequiredFrame {
    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction(_ input: Input) async throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension BoundAsync where Input == Nothing, Frame == RequiredFrame {
    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction() async throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension BoundSync where Frame == RequiredFrame {
    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction(_ input: Input) throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension BoundSync where Input == Nothing, Frame == RequiredFrame {
    @available(*, unavailable, message: "pass on the call being served as the last argument; a call that begins here is `context.begin()`")
    public func callAsFunction() throws(BackplaneError) -> Output { fatalError("unavailable") }
}
