/// A method's function as the method table keeps it: the cell of native wires calls it as it is, an encoded wire through coders.
@usableFromInline
protocol MethodBody: Sendable {
    /// The cell that native wires call. `context` points at the component's ``Held``.
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer
    /// Frees a cell that ``makeCell(_:)`` made and nobody calls any more.
    func freeCell(_ cell: UnsafeMutableRawPointer)
    /// Decodes, calls and encodes. `context` points at the component's ``Held``.
    nonisolated(nonsending) func callEncoded(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8]
    /// The same without waiting; `nil` for a method that may wait.
    func callEncodedNow(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) throws(BackplaneError) -> [UInt8]?
}

@usableFromInline
struct AsyncBody<Input: Codable & Sendable, Output: Codable & Sendable>: MethodBody {
    @usableFromInline let function: AsyncFunction<Input, Output>

    @inlinable @inline(__always)
    init<C: Component>(of _: C.Type, _ body: nonisolated(nonsending) @escaping @Sendable (C, Input, Call) async throws -> Output) {
        function = { (context, input, output, call) async throws(BackplaneError) -> Void in
            let held = context.assumingMemoryBound(to: Held<C>.self)
            output.initialize(to: try await held.pointee.async(body, input.pointee, call.pointee))
        }
    }

    @usableFromInline
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(keeping: AsyncCell(function, context: context))
    }

    @usableFromInline
    func freeCell(_ cell: UnsafeMutableRawPointer) { cell.free(AsyncCell<Input, Output>.self) }

    @usableFromInline
    nonisolated(nonsending) func callEncoded(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8] {
        var value = try JSON.decode(Input.self, input, failing: .callInvalidInput), call = call
        var output: Output?
        try await function(context, &value, &output, &call)
        return try JSON.encode(output.unsafelyUnwrapped, failing: .callInvalidOutput)
    }

    @usableFromInline
    func callEncodedNow(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) throws(BackplaneError) -> [UInt8]? { nil }
}

@usableFromInline
struct SyncBody<Input: Codable & Sendable, Output: Codable & Sendable>: MethodBody {
    @usableFromInline let function: SyncFunction<Input, Output>

    @inlinable @inline(__always)
    init<C: Component>(of _: C.Type, _ body: @escaping @Sendable (C, Input, Call) throws -> Output) {
        function = { (context, input, output, call) throws(BackplaneError) -> Void in
            let held = context.assumingMemoryBound(to: Held<C>.self)
            output.initialize(to: try held.pointee.sync(body, input.pointee, call.pointee))
        }
    }

    @usableFromInline
    func makeCell(_ context: UnsafeRawPointer) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(keeping: SyncCell(function, context: context))
    }

    @usableFromInline
    func freeCell(_ cell: UnsafeMutableRawPointer) { cell.free(SyncCell<Input, Output>.self) }

    @usableFromInline
    nonisolated(nonsending) func callEncoded(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8] {
        try callNow(context, input, call)
    }

    @usableFromInline
    func callEncodedNow(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) throws(BackplaneError) -> [UInt8]? {
        try callNow(context, input, call)
    }

    private func callNow(_ context: UnsafeRawPointer, _ input: [UInt8], _ call: Call) throws(BackplaneError) -> [UInt8] {
        var value = try JSON.decode(Input.self, input, failing: .callInvalidInput), call = call
        var output: Output?
        try function(context, &value, &output, &call)
        return try JSON.encode(output.unsafelyUnwrapped, failing: .callInvalidOutput)
    }
}
