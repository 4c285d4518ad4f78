import BackplaneNetwork
import Foundation
import FoundationNetworking
import Synchronization

/// An HTTP exchange, which ends once: by its server, its size, its caller or the end of the session.
final class Transfer: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPFailure>

    private struct State {
        var hasEnded = false
        var body: [UInt8] = []
        var continuation: CheckedContinuation<Outcome, Never>?
        var cancel: (@Sendable () -> Void)?
    }
    private let maximumBodySize: Int
    private let state = Mutex(State())

    init(maximumBodySize: Int) { self.maximumBodySize = maximumBodySize }

    /// Waits for the end of the exchange that `start` begins.
    ///
    /// The result is irrelevant if the task is cancelled.
    func run(_ start: () -> Void) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.continuation = continuation }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume(returning: .failure(.shutDown)) } else { start() }
            }
        } onCancel: {
            cancel(.shutDown)
        }
    }

    /// Sets the function that cancels the exchange's task; returns `false` if the exchange has already ended.
    func begin(cancel: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if !state.hasEnded { state.cancel = cancel }
            return !state.hasEnded
        }
    }

    /// Checks the announced size of the body.
    ///
    /// - Parameter count: The size in bytes; negative if the server does not announce it.
    func expect(_ count: Int64) {
        if count > Int64(maximumBodySize) { cancel(.tooLarge(limit: maximumBodySize)) }
    }

    func receive(_ data: Data) {
        let isTooLarge = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.body.append(contentsOf: data)
            return state.body.count > maximumBodySize
        }
        if isTooLarge { cancel(.tooLarge(limit: maximumBodySize)) }
    }

    func complete(_ response: URLResponse?) {
        let body = state.withLock { $0.body }
        let outcome = (response as? HTTPURLResponse).map { Outcome.success(HTTPResponse($0, body: body)) }
        end(outcome ?? .failure(.closed))
    }

    /// Ends the exchange, whose task has ended or was never created.
    func end(_ outcome: Outcome) {
        _ = settle(outcome)
    }

    /// Ends the exchange and cancels its task.
    private func cancel(_ failure: HTTPFailure) {
        settle(.failure(failure))?()
    }

    /// Resumes the waiting caller, unless that has been done, and returns the function that cancels the task.
    private func settle(_ outcome: Outcome) -> (@Sendable () -> Void)? {
        let (continuation, cancel) = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return (state.continuation, state.cancel)
        }
        continuation?.resume(returning: outcome)
        return cancel
    }
}
