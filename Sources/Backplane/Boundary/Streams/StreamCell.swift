public import CBackplane

/// The function that opens a stream, called through a pointer in a binding under the lease of its caller.
///
/// It receives its context, the input, the frame, the table that stores native streams and the number of the consumer.
/// It returns the memory of a ``StreamSource``, which its `close` frees.
@usableFromInline
typealias StreamOpenFunction<Input> =
    @Sendable (
        UnsafeRawPointer, UnsafePointer<Input>, UnsafePointer<Call>, UnsafePointer<bp_provider>?, UInt32
    ) throws(BackplaneError) -> UnsafeMutableRawPointer

/// The function that writes the next element, or nothing after the last one.
@usableFromInline
typealias StreamNextFunction<Element> =
    nonisolated(nonsending) @Sendable (UnsafeMutableRawPointer, UnsafeMutablePointer<Element?>)
    async throws(BackplaneError) -> Void

/// A stream as its wire opens it.
@frozen @usableFromInline
struct StreamCell<Input>: ~Copyable {
    @usableFromInline let function: StreamOpenFunction<Input>
    @usableFromInline let context: UnsafeRawPointer

    init(_ function: @escaping StreamOpenFunction<Input>, context: UnsafeRawPointer) {
        (self.function, self.context) = (function, context)
    }
}

/// An open stream as its consumer sees it, in memory allocated by the side that opened it.
@frozen @usableFromInline
struct StreamSource<Element>: ~Copyable {
    @usableFromInline let next: StreamNextFunction<Element>
    /// Closes the stream and frees this memory, which `next` uses until it has returned.
    @usableFromInline let close: @Sendable (UnsafeMutableRawPointer) -> Void
    /// The object that `next` receives.
    @usableFromInline let context: UnsafeMutableRawPointer

    @usableFromInline
    init(
        next: @escaping StreamNextFunction<Element>, close: @escaping @Sendable (UnsafeMutableRawPointer) -> Void,
        context: UnsafeMutableRawPointer
    ) {
        (self.next, self.close, self.context) = (next, close, context)
    }

    /// Writes the next element, or nothing after the last one.
    ///
    /// Borrows the function, because `source.next(…)` would retain it for each element; `close` is called after it has
    /// returned.
    @inlinable
    nonisolated(nonsending) borrowing func read(_ element: UnsafeMutablePointer<Element?>)
        async throws(BackplaneError)
    {
        try await next(context, element)
    }
}

/// The consumer's pointer to an open stream.
@frozen @usableFromInline
struct OpenSource<Element>: @unchecked Sendable {  // its memory is constant until its one reader closes it
    @usableFromInline let pointer: UnsafeMutablePointer<StreamSource<Element>>

    init(_ pointer: UnsafeMutableRawPointer) {
        self.pointer = pointer.assumingMemoryBound(to: StreamSource<Element>.self)
    }

    @inlinable
    nonisolated(nonsending) func next() async throws(BackplaneError) -> Element? {
        var element: Element?
        try await pointer.pointee.read(&element)
        return element
    }

    /// Closes the stream; this must be the last use of the pointer.
    func close() { pointer.pointee.close(UnsafeMutableRawPointer(pointer)) }
}

extension Slot {
    /// Opens a stream through the slot's binding, and waits at the gate while the slot is closed.
    ///
    /// - Throws: `call.retired` if the slot stays closed; `call.deadline` if the deadline has passed; the provider's
    ///   error.
    nonisolated(nonsending) func open<Input, Element>(
        _ member: Int, _ input: Input, _ call: Call, _: Element.Type
    ) async throws(BackplaneError) -> OpenSource<Element> {
        try call.checkDeadline()
        var input = input, frame = call
        frame.deadline = nil
        bp_call_append(&frame.frame, pointer.pointee.number)
        // A provider that is being replaced refuses, after its slots have been led to the next one.
        var attempts = 8
        while true {
            let binding = if let open = bp_enter(pointer) { open } else { try await admission(of: call) }
            defer { bp_leave(binding) }
            let cell = bp_cell(binding, member).assumingMemoryBound(to: StreamCell<Input>.self)
            do throws(BackplaneError) {
                return OpenSource(
                    try cell.pointee.function(
                        cell.pointee.context, &input, &frame, binding.pointee.provider, pointer.pointee.number))
            } catch {
                attempts -= 1
                guard error.code == .streamInterrupted, attempts > 0 else { throw error }
            }
        }
    }
}
