package import CBackplane
import Synchronization

/// The receiver of an encoded call's answer, which may arrive before or after it is awaited.
///
/// Most calls are answered before the function that starts them returns. In that case nothing waits and nothing can be
/// cancelled.
package final class PendingAnswer: Sendable {
    private enum State {
        case nothing
        case waiting(UnsafeContinuation<EncodedAnswer, Never>)
        case answered(EncodedAnswer)
    }
    private let state = Mutex(State.nothing)

    package init() {}

    /// The reply that delivers the answer.
    ///
    /// It must be used exactly once.
    package var reply: Reply { Reply(Self.done, toContext()) }

    /// Returns the context to pass with ``done``, which takes it back.
    package func toContext() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Releases the context of an answer that will not arrive.
    package static func forget(_ context: UnsafeMutableRawPointer) {
        Unmanaged<PendingAnswer>.fromOpaque(context).release()
    }

    package static let done: bp_done = { context, status, payload in
        guard let context else { return }
        Unmanaged<PendingAnswer>.fromOpaque(context).takeRetainedValue().receive(EncodedAnswer(status, payload))
    }

    private func receive(_ answer: EncodedAnswer) {
        let continuation = state.withLock { state -> UnsafeContinuation<EncodedAnswer, Never>? in
            if case .waiting(let continuation) = state {
                state = .nothing
                return continuation
            }
            state = .answered(answer)
            return nil
        }
        continuation?.resume(returning: answer)
    }

    /// The answer, if it has arrived.
    package var now: EncodedAnswer? {
        state.withLock { state in
            if case .answered(let answer) = state { answer } else { nil }
        }
    }

    /// Returns the answer, waiting for it if necessary.
    ///
    /// It must be called exactly once.
    ///
    /// If the waiting task is cancelled, it still waits for the answer, which `cancel` should cause.
    package nonisolated(nonsending) func wait(onCancel cancel: @Sendable () -> Void) async -> EncodedAnswer {
        if let now { return now }
        return await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            cancel()
        }
    }

    private nonisolated(nonsending) func wait() async -> EncodedAnswer {
        await withUnsafeContinuation { continuation in
            let answer = state.withLock { state -> EncodedAnswer? in
                if case .answered(let answer) = state { return answer }
                state = .waiting(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}
