import BackplaneExchange
import BackplaneNetwork
import Foundation
import FoundationNetworking
import Synchronization

/// The delegate of a session, which manages its exchanges.
///
/// The session is used only on a dedicated queue, on which the delegate is also called. Foundation on Linux makes every
/// thread that uses a session wait for the single queue on which libcurl runs for all sessions, and calls delegates on
/// the threads that run Swift's tasks. With both threads of a small machine waiting, no thread would be left to enforce
/// a limit.
final class Transfers: NSObject, URLSessionDataDelegate {
    private struct State {
        var isOpen = true
        var underWay: [Int: URLSessionTransfer] = [:]
    }
    private let queue = DispatchQueue(label: "org.backplane.urlsession")
    private let state = Mutex(State())

    func session(_ configuration: URLSessionConfiguration) -> URLSession {
        let delegates = OperationQueue()
        delegates.underlyingQueue = queue
        delegates.maxConcurrentOperationCount = 1
        return URLSession(configuration: configuration, delegate: self, delegateQueue: delegates)
    }

    /// Creates a task for an exchange and resumes it.
    func start(_ transfer: URLSessionTransfer, _ request: URLRequest, in session: URLSession) {
        queue.async { [self] in
            // Foundation aborts the program if a task is created in a session that has ended.
            guard state.withLock({ $0.isOpen }) else { return transfer.end(.failure(.shutDown)) }
            let task = session.dataTask(with: request)
            guard transfer.begin(cancel: { [queue] in queue.async { task.cancel() } }) else { return task.cancel() }
            state.withLock { $0.underWay[task.taskIdentifier] = transfer }
            task.resume()
        }
    }

    /// Cancels all tasks.
    ///
    /// Exchanges that are started later end immediately.
    func close(_ session: URLSession) {
        queue.async { [self] in
            let wasOpen = state.withLock { state in
                defer { state.isOpen = false }
                return state.isOpen
            }
            if wasOpen { session.invalidateAndCancel() }
        }
    }

    private subscript(_ task: URLSessionTask) -> URLSessionTransfer? {
        state.withLock { $0.underWay[task.taskIdentifier] }
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
        self[task]?.receive(response, toHead: task.originalRequest?.httpMethod == "HEAD")
        completionHandler(.allow)  // Foundation on Linux does not wait for it
    }

    func urlSession(_: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        self[task]?.receive(data, of: task.response)
    }

    /// Completes the exchange with the response when the server requests credentials.
    ///
    /// The challenge arrives after the body, and its response is like any other. Without this method, Foundation on
    /// Linux never ends the task.
    func urlSession(
        _: URLSession, task: URLSessionTask, didReceive _: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        self[task]?.complete(task.response)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = state.withLock({ $0.underWay.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { transfer.end(.failure(HTTPFailure(error))) } else { transfer.complete(task.response) }
    }
}
