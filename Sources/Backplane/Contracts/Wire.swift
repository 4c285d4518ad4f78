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
    ) -> BoundAsync<Input, Output, C.Failure, RequiredFrame> {
        BoundAsync(slot: slot, member: memberNumber(of: member))
    }

    /// Returns a synchronous method of the contract, bound to the collaborator.
    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, SyncMethod<Input, Output>>
    ) -> BoundSync<Input, Output, C.Failure, RequiredFrame> {
        BoundSync(slot: slot, member: memberNumber(of: member))
    }
    /// Returns a stream of the contract, bound to the collaborator.
    public subscript<Input: Sendable, Element: Sendable>(
        dynamicMember member: KeyPath<C, StreamMethod<Input, Element>>
    ) -> BoundStream<Input, Element, C.Failure, RequiredFrame> {
        BoundStream(slot: slot, member: memberNumber(of: member))
    }
}

/// An ``AsyncMethod`` of a ``Wire`` or a ``Remote``, which can be stored and called at any time.
@frozen
public struct BoundAsync<Input: Sendable, Output: Sendable, Failure: ContractFailure, Frame>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    /// Calls the method.
    ///
    /// - Parameters:
    ///   - input: The argument of the method.
    ///   - call: The frame of the call being served, or one started with `context.begin()`.
    /// - Throws: The contract's ``Contract/Failure``, if it declares one; every other error of the component as
    ///   ``BackplaneError/init(thrown:)`` converts it; `call.deadline`;
    ///   `call.cancelled`; `call.retired` after the component has stopped.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) async throws(Failure.Thrown) -> Output {
        try await slot.call(member, input, call, Failure.self)
    }
}

extension BoundAsync where Input == Nothing {
    /// Calls a method that takes no input.
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) async throws(Failure.Thrown) -> Output {
        try await slot.call(member, Nothing(), call, Failure.self)
    }
}

/// A ``SyncMethod`` of a ``Wire`` or a ``Remote``, which can be stored and called at any time.
@frozen
public struct BoundSync<Input: Sendable, Output: Sendable, Failure: ContractFailure, Frame>: Sendable {
    @usableFromInline let slot: Slot
    @usableFromInline let member: Int

    @inlinable @inline(__always)
    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    /// Calls the method.
    ///
    /// - Parameters:
    ///   - input: The argument of the method.
    ///   - call: The frame of the call being served, or one started with `context.begin()`.
    /// - Throws: The contract's ``Contract/Failure``, if it declares one; every other error of the component as
    ///   ``BackplaneError/init(thrown:)`` converts it; `call.deadline`;
    ///   `call.retired` after the component has stopped.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input, _ call: Call) throws(Failure.Thrown) -> Output {
        try slot.callNow(member, input, call, Failure.self)
    }
}

extension BoundSync where Input == Nothing {
    /// Calls a method that takes no input.
    @inlinable @inline(__always)
    public func callAsFunction(_ call: Call) throws(Failure.Thrown) -> Output {
        try slot.callNow(member, Nothing(), call, Failure.self)
    }
}

// MARK: Without a frame

/// The marker type of methods taken from a ``Remote``: the call frame may be omitted.
public enum OptionalFrame {}

extension BoundAsync where Frame == OptionalFrame {
    /// Calls the method without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input) async throws(Failure.Thrown) -> Output {
        try await slot.call(member, input, Call(), Failure.self)
    }
}

extension BoundAsync where Input == Nothing, Frame == OptionalFrame {
    /// Calls a method that takes no input, without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction() async throws(Failure.Thrown) -> Output {
        try await slot.call(member, Nothing(), Call(), Failure.self)
    }
}

extension BoundSync where Frame == OptionalFrame {
    /// Calls the method without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction(_ input: Input) throws(Failure.Thrown) -> Output {
        try slot.callNow(member, input, Call(), Failure.self)
    }
}

extension BoundSync where Input == Nothing, Frame == OptionalFrame {
    /// Calls a method that takes no input, without a deadline or a trace.
    @inlinable @inline(__always)
    public func callAsFunction() throws(Failure.Thrown) -> Output {
        try slot.callNow(member, Nothing(), Call(), Failure.self)
    }
}

/// The marker type of methods taken from a ``Wire``: the call frame is required.
///
/// A component passes on the frame of the call that it serves, or begins a new one with `context.begin()`.
public enum RequiredFrame {}

// The four functions below exist only for their messages. Their bodies never run.

extension BoundAsync where Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(*, unavailable, message: "pass the current call as last argument, or begin one with `context.begin()`")
    public func callAsFunction(_ input: Input) async throws(Failure.Thrown) -> Output { fatalError("unavailable") }
}

extension BoundAsync where Input == Nothing, Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(*, unavailable, message: "pass the current call as last argument, or begin one with `context.begin()`")
    public func callAsFunction() async throws(Failure.Thrown) -> Output { fatalError("unavailable") }
}

extension BoundSync where Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(*, unavailable, message: "pass the current call as last argument, or begin one with `context.begin()`")
    public func callAsFunction(_ input: Input) throws(Failure.Thrown) -> Output { fatalError("unavailable") }
}

extension BoundSync where Input == Nothing, Frame == RequiredFrame {
    /// Unavailable: a call through a ``Wire`` passes on the call being served.
    @available(*, unavailable, message: "pass the current call as last argument, or begin one with `context.begin()`")
    public func callAsFunction() throws(Failure.Thrown) -> Output { fatalError("unavailable") }
}

/// A ``StreamMethod`` of a ``Wire`` or a ``Remote``, which can be stored and opened at any time.
public struct BoundStream<Input: Sendable, Element: Sendable, Failure: ContractFailure, Frame>: Sendable {
    let slot: Slot
    let member: Int

    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    /// Returns the elements of a stream, which is opened when the first one is requested.
    ///
    /// - Parameters:
    ///   - input: The argument of the stream.
    ///   - call: The frame of the call being served, or one started with `context.begin()`. Its deadline bounds the
    ///     opening of the stream, not its lifetime.
    public func callAsFunction(_ input: Input, _ call: Call) -> StreamElements<Element, Failure.Thrown> {
        let opening = StreamOpening<Element, Failure.Thrown>(
            of: (slot, member), isResumable: false, throwing: Failure.self
        ) {
            [slot, member] (_, _) async throws(BackplaneError) in
            try await slot.open(member, input, call, Element.self)
        }
        return StreamElements(opening)
    }
}

extension BoundStream where Input == Nothing {
    /// Returns the elements of a stream that takes no input.
    public func callAsFunction(_ call: Call) -> StreamElements<Element, Failure.Thrown> { self(Nothing(), call) }
}

extension BoundStream where Frame == OptionalFrame {
    /// Returns the elements of a stream that is opened without a deadline or a trace.
    public func callAsFunction(_ input: Input) -> StreamElements<Element, Failure.Thrown> { self(input, Call()) }
}

extension BoundStream where Input == Nothing, Frame == OptionalFrame {
    /// Returns the elements of a stream that takes no input and is opened without a deadline or a trace.
    public func callAsFunction() -> StreamElements<Element, Failure.Thrown> { self(Nothing(), Call()) }
}

// The functions below exist only for their messages, like the functions of ``BoundAsync``.

extension BoundStream where Frame == RequiredFrame {
    /// Unavailable: a stream of a ``Wire`` is opened for the call being served.
    @available(*, unavailable, message: "pass the current call as last argument, or begin one with `context.begin()`")
    public func callAsFunction(_ input: Input) -> StreamElements<Element, Failure.Thrown> { fatalError("unavailable") }
}

extension BoundStream where Input == Nothing, Frame == RequiredFrame {
    /// Unavailable: a stream of a ``Wire`` is opened for the call being served.
    @available(*, unavailable, message: "pass the current call as last argument, or begin one with `context.begin()`")
    public func callAsFunction() -> StreamElements<Element, Failure.Thrown> { fatalError("unavailable") }
}

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
    ) -> BoundAsync<Input, Output, C.Failure, OptionalFrame> {
        BoundAsync(slot: slot, member: memberNumber(of: member))
    }

    /// Returns a synchronous method of the contract, bound to the manager.
    @inlinable @inline(__always)
    public subscript<Input: Sendable, Output: Sendable>(
        dynamicMember member: KeyPath<C, SyncMethod<Input, Output>>
    ) -> BoundSync<Input, Output, C.Failure, OptionalFrame> {
        BoundSync(slot: slot, member: memberNumber(of: member))
    }
    /// Returns a stream of the contract, bound to the manager.
    public subscript<Input: Sendable, Element: Sendable>(
        dynamicMember member: KeyPath<C, StreamMethod<Input, Element>>
    ) -> BoundStream<Input, Element, C.Failure, OptionalFrame> {
        BoundStream(slot: slot, member: memberNumber(of: member))
    }
}
