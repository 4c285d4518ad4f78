import CBackplane
import Synchronization

/// Where the answer of an encoded call arrives, whether before or after anybody waits for it.
///
/// Most calls are answered before the function that starts them returns: then nothing waits, and nothing can be cancelled.
package final class PendingAnswer: Sendable {
    private enum State {
        case nothing
        case waiting(UnsafeContinuation<EncodedAnswer, Never>)
        case answered(EncodedAnswer)
    }
    private let state = Mutex(State.nothing)

    package init() {}

    /// Where the answer is to go: to be used once.
    package var reply: Reply { Reply(Self.done, toContext()) }

    /// To be handed over with ``done``, which takes it back.
    func toContext() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static let done: bp_done = { context, status, payload in
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

    /// The answer, if it came already.
    package var now: EncodedAnswer? {
        state.withLock { state in
            if case .answered(let answer) = state { answer } else { nil }
        }
    }

    /// To be asked once. Whoever waits and is cancelled still waits for the answer, which `cancel` should bring about.
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
