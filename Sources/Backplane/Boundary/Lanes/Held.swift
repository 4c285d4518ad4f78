public import Synchronization

/// A component as the functions of its method table reach it: borrowed, never retained.
@frozen @usableFromInline
struct Held<C: Component>: ~Copyable {
    @usableFromInline let component: C
    @usableFromInline let failures: FailureCount

    init(_ component: C) {
        self.component = component
        failures = FailureCount()
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func async<Input, Output>(
        _ body: nonisolated(nonsending) (C, Input, Call) async throws -> Output, _ input: Input, _ call: Call
    ) async throws(BackplaneError) -> Output {
        do { return try await body(component, input, call) } catch { throw failures.counting(error) }
    }

    @inlinable @inline(__always)
    borrowing func sync<Input, Output>(
        _ body: (C, Input, Call) throws -> Output, _ input: Input, _ call: Call
    ) throws(BackplaneError) -> Output {
        do { return try body(component, input, call) } catch { throw failures.counting(error) }
    }
}

/// How many calls have ended with an error. Calls that succeed know nothing of it.
@frozen @usableFromInline
struct FailureCount: ~Copyable {
    @usableFromInline let count: Atomic<UInt64>

    init() { count = Atomic(0) }

    var value: UInt64 { count.load(ordering: .relaxed) }

    /// Gives the error as it goes to the caller, and counts it, unless the call was cancelled.
    @inline(never) @usableFromInline
    borrowing func counting(_ error: any Error) -> BackplaneError {
        let error = BackplaneError(thrown: error)
        if error.code != .callCancelled { count.wrappingAdd(1, ordering: .relaxed) }
        return error
    }
}
