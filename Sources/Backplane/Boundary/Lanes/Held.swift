import Synchronization

/// A component as the functions of its method table access it: borrowed, never retained.
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

/// The number of calls that have ended with an error.
///
/// Successful calls do not touch it.
///
/// It is an object, because a value in ``Held`` would be destroyed by the runtime, which would look for the
/// conformances of its parts.
@usableFromInline
final class FailureCount: Sendable {
    private let count = Mutex<UInt64>(0)

    init() {}

    var value: UInt64 { count.withLock(\.self) }

    /// Counts an error, unless the call was cancelled, and returns it as the caller receives it.
    @inline(never) @usableFromInline
    func counting(_ error: any Error) -> BackplaneError {
        let error = BackplaneError(thrown: error)
        if error.code != .callCancelled { count.withLock { $0 &+= 1 } }
        return error
    }
}
