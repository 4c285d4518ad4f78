import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import FoundationNetworking
import Glibc
import Synchronization

/// An HTTP exchange: the head and then the body.
///
/// Unread bytes of the body are kept in memory up to a limit, and beyond it in a file.
///
/// An exchange ends only once: by its server, the limit, its reader or the end of the session.
final class URLSessionTransfer: Sendable {
    private struct State {
        var end: Result<Void, HTTPFailure>?
        var head: HTTPURLResponse?
        var unread: UnreadBytes
        var count = 0
        var cancel: (@Sendable () -> Void)?
    }
    private let limit: Int
    /// The function that receives the number of sent bytes and the total number of bytes of the request's body.
    let sent: (@Sendable (Int64, Int64) -> Void)?
    private let state: Mutex<State>
    /// The signals of changes; the reader needs only the latest.
    private let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(limit: Int, memory: Int, sent: (@Sendable (Int64, Int64) -> Void)? = nil) {
        (self.limit, self.sent) = (limit, sent)
        state = Mutex(State(unread: UnreadBytes(limit: memory)))
    }

    func head() async throws(HTTPFailure) -> HTTPURLResponse {
        try await wait { state -> Result<HTTPURLResponse, HTTPFailure>? in
            state.head.map { .success($0) } ?? state.end.map { $0.flatMap { .failure(.closed) } }
        }
    }

    /// Waits for more of the body; returns its end once everything was read.
    func next() async throws(HTTPFailure) -> [UInt8]? {
        try await wait { state -> Result<[UInt8]?, HTTPFailure>? in
            do throws(HTTPFailure) {
                if let bytes = try state.unread.take() { return .success(bytes) }
            } catch {
                return .failure(error)
            }
            return state.end.map { $0.map { nil } }
        }
    }

    /// Waits until the state has something for its reader; the cancellation of the task ends the exchange.
    private func wait<Value: Sendable>(
        _ take: @Sendable (inout State) -> Result<Value, HTTPFailure>?
    ) async throws(HTTPFailure) -> Value {
        var signals = changes.makeAsyncIterator()
        while true {
            if let value = state.withLock({ take(&$0) }) { return try value.get() }
            if await signals.next() == nil { cancel(.shutDown) }
        }
    }

    /// Sets the function that cancels the exchange's task; returns `false` if the exchange has already ended.
    func begin(cancel: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.end == nil { state.cancel = cancel }
            return state.end == nil
        }
    }

    /// Delivers the head, unless it has already been delivered or belongs to an interim response.
    ///
    /// If the head announces a body beyond the limit, reading the body fails.
    ///
    /// - Parameter hasBody: Whether a body of the announced length follows.
    func receive(_ response: URLResponse?, hasBody: Bool = false) {
        guard let response = response as? HTTPURLResponse, response.statusCode >= 200 else { return }
        let isFirst = state.withLock { state in
            guard state.head == nil, state.end == nil else { return false }
            state.head = response
            return true
        }
        guard isFirst else { return }
        change.yield()
        if hasBody, response.statusCode != 204, response.statusCode != 304,
            response.expectedContentLength > Int64(limit)
        {
            cancel(.tooLarge(limit: limit))
        }
    }

    /// Adds a part of the body.
    ///
    /// - Parameter response: The response of the part, whose head may not have been announced.
    func receive(_ data: Data, of response: URLResponse?) {
        receive(response)
        guard !data.isEmpty else { return }
        let failure = state.withLock { state -> HTTPFailure? in
            guard state.end == nil else { return nil }
            state.count += data.count
            guard state.count <= limit else { return .tooLarge(limit: limit) }
            do throws(HTTPFailure) {
                try state.unread.add(data)
                return nil
            } catch {
                return error
            }
        }
        if let failure { cancel(failure) } else { change.yield() }
    }

    func complete(_ response: URLResponse?) {
        receive(response)
        end(response is HTTPURLResponse ? .success(()) : .failure(.closed))
    }

    func cancel(_ failure: HTTPFailure) { end(.failure(failure))?() }

    /// Ends the exchange, unless it has ended, and returns the function that cancels its task.
    @discardableResult
    func end(_ result: Result<Void, HTTPFailure>) -> (@Sendable () -> Void)? {
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.end == nil else { return nil }
            state.end = result
            if case .failure = result { state.unread = UnreadBytes(limit: 0) }
            return state.cancel.take()
        }
        change.yield()
        return cancel
    }
}

/// The unread bytes of a body, in order: first the bytes in memory, then the bytes in a file.
private struct UnreadBytes {
    private static let pieceSize = 256 << 10
    let limit: Int
    private var memory: [UInt8] = []
    /// The file of the bytes that exceed the limit; `nil` once all of them were read.
    private var file: SpoolFile?

    init(limit: Int) { self.limit = limit }

    mutating func add(_ data: Data) throws(HTTPFailure) {
        if file == nil, memory.count + data.count <= limit {
            memory.append(contentsOf: data)
        } else {
            if file == nil { file = try SpoolFile() }
            try file?.write(data)
        }
    }

    mutating func take() throws(HTTPFailure) -> [UInt8]? {
        if !memory.isEmpty {
            defer { memory = [] }
            return memory
        }
        guard let file else { return nil }
        let bytes = try file.read(upTo: Self.pieceSize)
        if !bytes.isEmpty { return bytes }
        self.file = nil
        return nil
    }
}

/// A temporary file without a name, which is written at its end and read from its start.
private final class SpoolFile {
    private let number: Int32
    private var written = 0, taken = 0

    init() throws(HTTPFailure) {
        var path = Array((FileManager.default.temporaryDirectory.path + "/backplane-spool-XXXXXX").utf8CString)
        number = mkstemp(&path)
        guard number >= 0 else { throw Self.failure() }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        unlink(path)
    }

    deinit { if number >= 0 { close(number) } }

    func write(_ data: Data) throws(HTTPFailure) {
        let count = data.withUnsafeBytes { $0.write(to: number, at: Int64(written)) }
        written += count
        if count < data.count { throw Self.failure() }
    }

    func read(upTo most: Int) throws(HTTPFailure) -> [UInt8] {
        let wanted = min(most, written - taken)
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            count = max(0, pread(number, buffer.baseAddress, wanted, taken))
        }
        guard !bytes.isEmpty || wanted == 0 else { throw Self.failure() }
        taken += bytes.count
        return bytes
    }

    private static func failure() -> HTTPFailure {
        .unwritable(
            "the unread body cannot be kept in a temporary file: \(String(cString: strerror(errno)))",
            path: FileManager.default.temporaryDirectory.path)
    }
}

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

    func start(_ transfer: URLSessionTransfer, _ request: URLRequest, in session: URLSession) {
        queue.async { [self] in
            // Foundation aborts the program if a task is created in a session that has ended.
            guard state.withLock({ $0.isOpen }) else { return transfer.cancel(.shutDown) }
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
        self[task]?.receive(response, hasBody: task.originalRequest?.httpMethod != "HEAD")
        completionHandler(.allow)  // Foundation on Linux does not wait for it
    }

    func urlSession(
        _: URLSession, task: URLSessionTask, didSendBodyData _: Int64, totalBytesSent sent: Int64,
        totalBytesExpectedToSend length: Int64
    ) {
        self[task]?.sent?(sent, length)
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
