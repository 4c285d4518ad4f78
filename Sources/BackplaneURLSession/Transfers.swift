import BackplaneNetwork
import Foundation
import FoundationNetworking
import Synchronization

/// The exchanges of one session, as its delegate: each is ended once, by its server, its size, its caller or the end of the session.
final class Transfers: NSObject, URLSessionDataDelegate {
    typealias Outcome = Result<HTTPResponse, HTTPFailure>

    private struct Transfer {
        var body: [UInt8] = []
        let continuation: CheckedContinuation<Outcome, Never>
    }
    private struct State {
        var isOpen = true
        var underWay: [Int: Transfer] = [:]
    }
    private let maximumBodySize: Int
    private let state = Mutex(State())

    init(maximumBodySize: Int) { self.maximumBodySize = maximumBodySize }

    /// Carries out one request. What a cancelled task gets does not matter.
    func run(_ request: URLRequest, in session: URLSession) async -> Outcome {
        // Foundation stops the program over a task that is made in a session that has ended.
        guard let task = state.withLock({ $0.isOpen ? session.dataTask(with: request) : nil }) else { return .failure(.shutDown) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.underWay[task.taskIdentifier] = Transfer(continuation: continuation) }
                if Task.isCancelled { end(task, .failure(.shutDown)) } else { task.resume() }
            }
        } onCancel: {
            end(task, .failure(.shutDown))
        }
    }

    /// Lets nobody in any more; `false` if that was so already.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
    }

    private func end(_ task: URLSessionTask, _ outcome: Outcome) {
        guard let transfer = remove(task) else { return }
        task.cancel()
        transfer.continuation.resume(returning: outcome)
    }

    private func remove(_ task: URLSessionTask) -> Transfer? {
        state.withLock { $0.underWay.removeValue(forKey: task.taskIdentifier) }
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest _: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _: URLSession, dataTask task: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let hasBody = task.originalRequest?.httpMethod != "HEAD"
        if hasBody, response.expectedContentLength > Int64(maximumBodySize) { end(task, .failure(.tooLarge(limit: maximumBodySize))) }
        completionHandler(.allow)       // Foundation on Linux does not wait for it
    }

    func urlSession(_: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            state.underWay[task.taskIdentifier]?.body.append(contentsOf: data)
            return state.underWay[task.taskIdentifier].map { $0.body.count > maximumBodySize } ?? false
        }
        if isTooLarge { end(task, .failure(.tooLarge(limit: maximumBodySize))) }
    }

    /// A demand for credentials comes after the body and is a response like any other; left to itself, Foundation on Linux never ends the task.
    func urlSession(
        _: URLSession, task: URLSessionTask, didReceive _: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        complete(task)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { end(task, .failure(HTTPFailure(error))) } else { complete(task) }
    }

    private func complete(_ task: URLSessionTask) {
        guard let transfer = remove(task) else { return }
        guard let response = task.response as? HTTPURLResponse else { return transfer.continuation.resume(returning: .failure(.closed)) }
        transfer.continuation.resume(returning: .success(HTTPResponse(response, body: transfer.body)))
    }
}
