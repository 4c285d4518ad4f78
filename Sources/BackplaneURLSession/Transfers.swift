import BackplaneNetwork
import Foundation
import FoundationNetworking
import Synchronization

/// The exchanges of one session, as its delegate.
///
/// The session is touched on a queue of its own only, where the delegate is called too. For Foundation on Linux makes whoever
/// touches a session wait for the one queue on which libcurl runs for all of them, and calls delegates on the threads that
/// Swift's tasks run on: with both threads of a small machine waiting, nobody would be there to keep a limit.
final class Transfers: NSObject, URLSessionDataDelegate {
    private struct State {
        var isOpen = true
        var underWay: [Int: Transfer] = [:]
    }
    private let queue = DispatchQueue(label: "org.backplane.urlsession")
    private let state = Mutex(State())

    func session(_ configuration: URLSessionConfiguration) -> URLSession {
        let delegates = OperationQueue()
        delegates.underlyingQueue = queue
        delegates.maxConcurrentOperationCount = 1
        return URLSession(configuration: configuration, delegate: self, delegateQueue: delegates)
    }

    /// Makes a task and lets it go.
    func start(_ transfer: Transfer, _ request: URLRequest, in session: URLSession) {
        queue.async { [self] in
            // Foundation stops the program over a task that is made in a session that has ended.
            guard state.withLock({ $0.isOpen }) else { return transfer.end(.failure(.shutDown)) }
            let task = session.dataTask(with: request)
            guard transfer.begin(cancel: { [queue] in queue.async { task.cancel() } }) else { return task.cancel() }
            state.withLock { $0.underWay[task.taskIdentifier] = transfer }
            task.resume()
        }
    }

    /// Cancels all tasks; those started later end at once.
    func close(_ session: URLSession) {
        queue.async { [self] in
            let wasOpen = state.withLock { state in
                defer { state.isOpen = false }
                return state.isOpen
            }
            if wasOpen { session.invalidateAndCancel() }
        }
    }

    private subscript(_ task: URLSessionTask) -> Transfer? {
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
        if task.originalRequest?.httpMethod != "HEAD" { self[task]?.expect(response.expectedContentLength) }
        completionHandler(.allow)       // Foundation on Linux does not wait for it
    }

    func urlSession(_: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        self[task]?.receive(data)
    }

    /// A demand for credentials comes after the body and is a response like any other; left to itself, Foundation on Linux never ends the task.
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
