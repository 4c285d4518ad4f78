import Synchronization

/// A hand-over between two tasks in one program, without a buffer: the baseline of native streams.
///
/// Each element passes from continuation to continuation, as in a native stream, without further work.
final class Rendezvous<Element: Sendable>: Sendable {
    private struct State {
        var reader: UnsafeContinuation<Element?, Never>?
        var sender: (element: Element, continuation: UnsafeContinuation<Void, Never>)?
        var isFinished = false
    }
    private let state = Mutex(State())

    nonisolated(nonsending) func send(_ element: Element) async {
        let reader = state.withLock { $0.reader.take() }
        if let reader { return reader.resume(returning: element) }
        await withUnsafeContinuation { continuation in
            let reader = state.withLock { state -> UnsafeContinuation<Element?, Never>? in
                if let reader = state.reader.take() { return reader }
                state.sender = (element, continuation)
                return nil
            }
            guard let reader else { return }
            reader.resume(returning: element)
            continuation.resume()
        }
    }

    nonisolated(nonsending) func next() async -> Element? {
        if let sender = state.withLock({ $0.sender.take() }) {
            sender.continuation.resume()
            return sender.element
        }
        return await withUnsafeContinuation { continuation in
            let (sender, isFinished) = state.withLock {
                state -> ((element: Element, continuation: UnsafeContinuation<Void, Never>)?, Bool) in
                if let sender = state.sender.take() { return (sender, false) }
                if !state.isFinished { state.reader = continuation }
                return (nil, state.isFinished)
            }
            if let sender {
                sender.continuation.resume()
                continuation.resume(returning: sender.element)
            } else if isFinished {
                continuation.resume(returning: nil)
            }
        }
    }

    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }
}
