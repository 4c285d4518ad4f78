/// A component as the functions of its method table access it: borrowed, never retained.
@frozen @usableFromInline
struct Held<C: Component>: ~Copyable {
    @usableFromInline let component: C
    @usableFromInline let failures: CallFailures

    init(_ component: C, calls: NativeCalls? = nil) {
        self.component = component
        failures = CallFailures(calls)
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
        } catch { throw failures.recording(error) }
    }

    @inlinable @inline(__always)
    borrowing func sync<Input, Output>(
        _ body: (C, Input, Call) throws -> Output, _ input: Input, _ call: Call
    ) throws(BackplaneError) -> Output {
        do { return try body(component, input, call) } catch { throw failures.recording(error) }
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) borrowing func stream<Input, Element>(
        _ body: nonisolated(nonsending) (C, Input, StreamSender<Element>, Call) async throws -> Void,
        _ input: Input, _ elements: StreamSender<Element>, _ call: Call
    ) async throws(BackplaneError) {
        do { try await body(component, input, elements, call) } catch {
            throw elements.channel.isClosed ? BackplaneError(thrown: error) : failures.recordingUnlessInterrupted(error)
        }
        if let interruption = failures.interruption() { throw interruption }
    }
}
