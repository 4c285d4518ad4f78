/// A ``StreamMethod`` of a ``Wire`` or a ``Remote``, which can be stored and opened at any time.
public struct BoundStream<Input: Sendable, Element: Sendable, Frame>: Sendable {
    let slot: Slot
    let member: Int

    init(slot: Slot, member: Int) { (self.slot, self.member) = (slot, member) }

    /// Returns the elements of a stream, which is opened when the first one is requested.
    ///
    /// - Parameters:
    ///   - input: The argument of the stream.
    ///   - call: The frame of the call being served, or one started with `context.begin()`. Its deadline bounds the
    ///     opening of the stream, not its lifetime.
    public func callAsFunction(_ input: Input, _ call: Call) -> StreamElements<Element> {
        StreamElements(of: (slot, member), isResumable: false) { [slot, member] (_, _) async throws(BackplaneError) in
            try await slot.open(member, input, call, Element.self)
        }
    }
}

extension BoundStream where Input == Nothing {
    /// Returns the elements of a stream that takes no input.
    ///
    /// - Parameter call: The frame of the call being served, or one started with `context.begin()`.
    public func callAsFunction(_ call: Call) -> StreamElements<Element> { self(Nothing(), call) }
}

extension BoundStream where Frame == OptionalFrame {
    /// Returns the elements of a stream that is opened without a deadline or a trace.
    public func callAsFunction(_ input: Input) -> StreamElements<Element> { self(input, Call()) }
}

extension BoundStream where Input == Nothing, Frame == OptionalFrame {
    /// Returns the elements of a stream that takes no input and is opened without a deadline or a trace.
    public func callAsFunction() -> StreamElements<Element> { self(Nothing(), Call()) }
}

// The functions below exist for their message, as those of ``BoundAsync`` do.

extension BoundStream where Frame == RequiredFrame {
    /// Unavailable: a stream of a ``Wire`` is opened for the call being served.
    @available(
        *, unavailable,
        message: "pass the current call as the last argument, or start a new one with `context.begin()`"
    )
    // Never runs: the compiler refuses every call.
    public func callAsFunction(_ input: Input) -> StreamElements<Element> { fatalError("unavailable") }
}

extension BoundStream where Input == Nothing, Frame == RequiredFrame {
    /// Unavailable: a stream of a ``Wire`` is opened for the call being served.
    @available(
        *, unavailable,
        message: "pass the current call as the last argument, or start a new one with `context.begin()`"
    )
    // Never runs: the compiler refuses every call.
    public func callAsFunction() -> StreamElements<Element> { fatalError("unavailable") }
}
