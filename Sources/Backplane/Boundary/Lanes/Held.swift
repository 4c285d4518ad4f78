import Synchronization

/// A component as the functions of its method table access it: borrowed, never retained.
@frozen @usableFromInline
struct Held<C: Component>: ~Copyable {
    @usableFromInline let component: C
    @usableFromInline let failures: FailureCount

    init(_ component: C, calls: NativeCalls? = nil) {
        self.component = component
        failures = FailureCount(calls)
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func async<Input, Output>(
        _ body: nonisolated(nonsending) (C, Input, Call) async throws -> Output, _ input: Input, _ call: Call
    ) async throws(BackplaneError) -> Output {
        do {
            guard let calls = failures.calls else { return try await body(component, input, call) }
            let place = calls.enter()
            defer { calls.leave(place) }
            return try await body(component, input, call)
        } catch { throw failures.counting(error) }
    }

    @inlinable @inline(__always)
    borrowing func sync<Input, Output>(
        _ body: (C, Input, Call) throws -> Output, _ input: Input, _ call: Call
    ) throws(BackplaneError) -> Output {
        do { return try body(component, input, call) } catch { throw failures.counting(error) }
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func stream<Input, Element>(
        _ body: nonisolated(nonsending) (C, Input, StreamSender<Element>, Call) async throws -> Void,
        _ input: Input, _ elements: StreamSender<Element>, _ call: Call
    ) async throws(BackplaneError) {
        do { try await body(component, input, elements, call) } catch {
            throw elements.channel.isClosed ? BackplaneError(thrown: error) : failures.countingUnlessSuspended(error)
        }
        try failures.requireNotSuspended()
    }
}

/// The number of calls that ended with an error, and the calls in flight that a swap may have to cancel.
///
/// Successful calls do not touch it.
///
/// It is an object, because the runtime would destroy a value in ``Held`` and look up the conformances of its parts.
@usableFromInline
final class FailureCount: Sendable {
    private let count = Mutex<UInt64>(0)
    /// The list of the calls in flight; `nil` if they never have to be cancelled.
    @usableFromInline let calls: NativeCalls?
    /// The flag that is set while the component is suspended or about to be.
    let isSuspended = Atomic<Bool>(false)

    init(_ calls: NativeCalls?) { self.calls = calls }

    var value: UInt64 { count.withLock(\.self) }

    /// Counts the error of a stream's body as ``counting(_:)`` does; once the component is suspended, the stream counts
    /// as interrupted.
    @inline(never) @usableFromInline
    func countingUnlessSuspended(_ error: any Error) -> BackplaneError {
        isSuspended.load(ordering: .relaxed) ? .streamInterrupted : counting(error)
    }

    /// Throws an interruption if the component is suspended, because a body that then returns may not have sent
    /// everything.
    @inline(never) @usableFromInline
    func requireNotSuspended() throws(BackplaneError) {
        if isSuspended.load(ordering: .relaxed) { throw .streamInterrupted }
    }

    /// Counts an error, unless the call was cancelled, and returns it as the caller receives it.
    @inline(never) @usableFromInline
    func counting(_ error: any Error) -> BackplaneError {
        let error = BackplaneError(thrown: error)
        if error.code != .callCancelled { count.withLock { $0 &+= 1 } }
        return error
    }
}
