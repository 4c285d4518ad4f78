/// A component as the functions of its method table reach it: borrowed, never retained.
@frozen @usableFromInline
struct Held<C: Component>: ~Copyable {
    @usableFromInline let component: C

    init(_ component: C) { self.component = component }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func async<Input, Output>(
        _ body: nonisolated(nonsending) (C, Input, Call) async throws -> Output, _ input: Input, _ call: Call
    ) async throws(BackplaneError) -> Output {
        do { return try await body(component, input, call) } catch { throw BackplaneError(thrown: error) }
    }

    @inlinable @inline(__always)
    borrowing func sync<Input, Output>(
        _ body: (C, Input, Call) throws -> Output, _ input: Input, _ call: Call
    ) throws(BackplaneError) -> Output {
        do { return try body(component, input, call) } catch { throw BackplaneError(thrown: error) }
    }
}
