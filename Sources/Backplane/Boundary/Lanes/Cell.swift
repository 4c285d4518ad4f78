public import CBackplane

/// The function of a method as its wire calls it.
///
/// A cell stores it with its context, behind a pointer in a binding.
///
/// The function's type spells out its pointers and its isolation, so that separately built images agree on the calling
/// convention and no reabstraction is needed. Cells are not copyable and are called through a borrowing method.
/// Anything else would retain the closure, and every core would contend for that one reference count.
@usableFromInline
typealias AsyncFunction<Input, Output> =
    nonisolated(nonsending) @Sendable (
        UnsafeRawPointer, UnsafePointer<Input>, UnsafeMutablePointer<Output?>, UnsafePointer<Call>
    ) async throws(BackplaneError) -> Void

@usableFromInline
typealias SyncFunction<Input, Output> =
    @Sendable (
        UnsafeRawPointer, UnsafePointer<Input>, UnsafeMutablePointer<Output?>, UnsafePointer<Call>
    ) throws(BackplaneError) -> Void

@frozen @usableFromInline
struct AsyncCell<Input, Output>: ~Copyable {
    @usableFromInline let function: AsyncFunction<Input, Output>
    @usableFromInline let context: UnsafeRawPointer

    init(_ function: @escaping AsyncFunction<Input, Output>, context: UnsafeRawPointer) {
        (self.function, self.context) = (function, context)
    }

    /// Calls the method.
    ///
    /// - Parameter number: The number of the calling component, for the path.
    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func invoke(_ input: Input, _ call: Call, from number: UInt32)
        async throws(BackplaneError) -> Output
    {
        var input = input, call = call
        bp_call_append(&call.frame, number)
        var output: Output?
        try await function(context, &input, &output, &call)
        return output.unsafelyUnwrapped  // a function that does not throw has written it
    }
}

@frozen @usableFromInline
struct SyncCell<Input, Output>: ~Copyable {
    @usableFromInline let function: SyncFunction<Input, Output>
    @usableFromInline let context: UnsafeRawPointer

    init(_ function: @escaping SyncFunction<Input, Output>, context: UnsafeRawPointer) {
        (self.function, self.context) = (function, context)
    }

    /// Calls the method.
    ///
    /// - Parameter number: The number of the calling component, for the path.
    @inlinable @inline(__always)
    borrowing func invoke(_ input: Input, _ call: Call, from number: UInt32) throws(BackplaneError) -> Output {
        var input = input, call = call
        bp_call_append(&call.frame, number)
        var output: Output?
        try function(context, &input, &output, &call)
        return output.unsafelyUnwrapped  // a function that does not throw has written it
    }
}
