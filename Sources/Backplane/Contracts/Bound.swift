/// An ``AsyncMethod`` of a ``Wire`` or a ``Remote``, which can be stored and called at any time.
@frozen
public struct BoundAsync<Input: Sendable, Output: Sendable, Frame>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    /// Calls the method.
    ///
    /// - Parameters:
    ///   - input: The argument of the method.
    ///   - call: The frame of the call being served, or one started with `context.begin()`.
    /// - Throws: The component's error, as ``BackplaneError/init(thrown:)`` converts it; `call.deadline`;
    ///   `call.cancelled`; `call.retired` after the component has stopped.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) async throws(BackplaneError) -> Output {
        try await slot.call(member, input, call)
    }
}

extension BoundAsync where Input == Nothing {
    /// Calls a method that takes no input.
    ///
    /// - Parameter call: The frame of the call being served, or one started with `context.begin()`.
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) async throws(BackplaneError) -> Output {
        try await slot.call(member, Nothing(), call)
    }
}

/// A ``SyncMethod`` of a ``Wire`` or a ``Remote``, which can be stored and called at any time.
@frozen
public struct BoundSync<Input: Sendable, Output: Sendable, Frame>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    /// Calls the method.
    ///
    /// - Parameters:
    ///   - input: The argument of the method.
    ///   - call: The frame of the call being served, or one started with `context.begin()`.
    /// - Throws: The component's error, as ``BackplaneError/init(thrown:)`` converts it; `call.deadline`;
    ///   `call.retired` after the component has stopped.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) throws(BackplaneError) -> Output {
        try slot.callNow(member, input, call)
    }
}

extension BoundSync where Input == Nothing {
    /// Calls a method that takes no input.
    ///
    /// - Parameter call: The frame of the call being served, or one started with `context.begin()`.
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) throws(BackplaneError) -> Output {
        try slot.callNow(member, Nothing(), call)
    }
}

// MARK: Without a frame

/// The marker type of methods taken from a ``Remote``: the call frame may be omitted.
public enum OptionalFrame {}

extension BoundAsync where Frame == OptionalFrame {
    /// Calls the method without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input) async throws(BackplaneError) -> Output {
        try await slot.call(member, input, Call())
    }
}

extension BoundAsync where Input == Nothing, Frame == OptionalFrame {
    /// Calls a method that takes no input, without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction() async throws(BackplaneError) -> Output {
        try await slot.call(member, Nothing(), Call())
    }
}

extension BoundSync where Frame == OptionalFrame {
    /// Calls the method without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input) throws(BackplaneError) -> Output {
        try slot.callNow(member, input, Call())
    }
}

extension BoundSync where Input == Nothing, Frame == OptionalFrame {
    /// Calls a method that takes no input, without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction() throws(BackplaneError) -> Output {
        try slot.callNow(member, Nothing(), Call())
    }
}

/// The marker type of methods taken from a ``Wire``: the call frame is required.
///
/// A component passes on the frame of the call that it serves, or begins a new one with `context.begin()`.
public enum RequiredFrame {}

// The four functions below exist for their message. They have bodies only because Swift requires them.

extension BoundAsync where Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(
        *, unavailable,
        message: "pass the current call as the last argument, or start a new one with `context.begin()`"
    )
    // Never runs: the compiler refuses every call.
    public func callAsFunction(_ input: Input) async throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension BoundAsync where Input == Nothing, Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(
        *, unavailable,
        message: "pass the current call as the last argument, or start a new one with `context.begin()`"
    )
    // Never runs: the compiler refuses every call.
    public func callAsFunction() async throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension BoundSync where Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(
        *, unavailable,
        message: "pass the current call as the last argument, or start a new one with `context.begin()`"
    )
    // Never runs: the compiler refuses every call.
    public func callAsFunction(_ input: Input) throws(BackplaneError) -> Output { fatalError("unavailable") }
}

extension BoundSync where Input == Nothing, Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(
        *, unavailable,
        message: "pass the current call as the last argument, or start a new one with `context.begin()`"
    )
    // Never runs: the compiler refuses every call.
    public func callAsFunction() throws(BackplaneError) -> Output { fatalError("unavailable") }
}
