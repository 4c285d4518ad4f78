import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import FoundationNetworking
import Glibc
import Synchronization

/// An HTTP exchange: the head and then the body, of which unread bytes are in memory up to a limit, and beyond it in a
/// file.
///
/// It ends once: by its server, the limit, its reader or the end of the session.
final class URLSessionTransfer: Sendable {
    typealias Head = Result<HTTPURLResponse, HTTPFailure>

    fileprivate struct State {
        var end: Result<Void, HTTPFailure>?
        var hasHead = false
        var unread: UnreadBytes
        /// The number of all bytes that were received.
        var count = 0
        var headWaiter: CheckedContinuation<Head, Never>?
        var reader: CheckedContinuation<Result<[UInt8]?, HTTPFailure>, Never>?
        var cancel: (@Sendable () -> Void)?
    }
    private let limit: Int
    /// The function that receives the numbers of sent and of all bytes of the request's body.
    let sent: (@Sendable (Int64, Int64) -> Void)?
    private let state: Mutex<State>

    /// Creates an exchange that has not been started.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of the body.
    ///   - memory: The maximum number of unread bytes in memory.
    init(limit: Int, memory: Int, sent: (@Sendable (Int64, Int64) -> Void)? = nil) {
        (self.limit, self.sent) = (limit, sent)
        state = Mutex(State(unread: UnreadBytes(limit: memory)))
    }

    /// Waits for the head of the exchange that `start` begins.
    ///
    /// The result is irrelevant if the task is cancelled.
    func head(_ start: () -> Void) async -> Head {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end = state.withLock { state in
                    if state.end == nil { state.headWaiter = continuation }
                    return state.end
                }
                if end != nil { continuation.resume(returning: .failure(.shutDown)) } else { start() }
            }
        } onCancel: {
            cancel(.shutDown)
        }
    }

    /// Waits for more of the body; returns its end once everything was read.
    func next() async throws(HTTPFailure) -> [UInt8]? {
        let part: Result<[UInt8]?, HTTPFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let part = state.withLock { state -> Result<[UInt8]?, HTTPFailure>? in
                    if let part = state.takePart() { return part }
                    state.reader = continuation
                    return nil
                }
                if let part { continuation.resume(returning: part) }
            }
        } onCancel: {
            cancel(.shutDown)
        }
        return try part.get()
    }

    /// Sets the function that cancels the exchange's task; returns `false` if the exchange has already ended.
    func begin(cancel: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.end == nil { state.cancel = cancel }
            return state.end == nil
        }
    }

    /// Delivers the head; if it announces a body beyond the limit, reading the body fails.
    ///
    /// - Parameter isHead: Whether the request was a `HEAD` request, whose response announces the length of a body that
    ///   does not follow.
    func receive(_ response: URLResponse, toHead isHead: Bool) {
        let status = (response as? HTTPURLResponse)?.statusCode
        let hasBody = !isHead && status != 204 && status != 304
        deliver(response, isTooLarge: hasBody && response.expectedContentLength > Int64(limit))
    }

    /// Adds a part of the body.
    ///
    /// - Parameter response: The response to which it belongs, whose head may not have been announced.
    func receive(_ data: Data, of response: URLResponse?) {
        deliver(response)
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
        if let failure { cancel(failure) } else { wakeReader() }
    }

    func complete(_ response: URLResponse?) {
        deliver(response)
        end(response is HTTPURLResponse ? .success(()) : .failure(.closed))
    }

    /// Ends the exchange after its task has ended, or if none was created.
    func end(_ result: Result<Void, HTTPFailure>) {
        _ = settle(result)
    }

    /// Ends the exchange and cancels its task.
    func cancel(_ failure: HTTPFailure) {
        settle(.failure(failure))?()
    }

    /// Delivers the head, unless it has already been delivered or belongs to an interim response.
    private func deliver(_ response: URLResponse?, isTooLarge: Bool = false) {
        guard let response = response as? HTTPURLResponse, response.statusCode >= 200 else { return }
        let waiter = state.withLock { state in
            defer { state.hasHead = true }
            return state.hasHead ? nil : state.headWaiter.take()
        }
        guard let waiter else { return }
        waiter.resume(returning: .success(response))
        if isTooLarge { cancel(.tooLarge(limit: limit)) }
    }

    private func wakeReader() {
        let (reader, part) = state.withLock { state in
            guard state.reader != nil, let part = state.takePart() else {
                return (
                    nil as CheckedContinuation<Result<[UInt8]?, HTTPFailure>, Never>?,
                    nil as Result<[UInt8]?, HTTPFailure>?
                )
            }
            return (state.reader.take(), part)
        }
        if let reader, let part { reader.resume(returning: part) }
    }

    /// Records the end unless one is already recorded, resumes the waiting task, and returns the function that cancels
    /// the exchange's task.
    private func settle(_ result: Result<Void, HTTPFailure>) -> (@Sendable () -> Void)? {
        let (waiter, cancel) = state.withLock { state in
            guard state.end == nil else {
                return (nil as CheckedContinuation<Head, Never>?, nil as (@Sendable () -> Void)?)
            }
            state.end = result
            if case .failure = result { state.unread = UnreadBytes(limit: 0) }
            return (state.headWaiter.take(), state.cancel.take())
        }
        if let waiter {
            if case .failure(let failure) = result {
                waiter.resume(returning: .failure(failure))
            } else {
                waiter.resume(returning: .failure(.closed))
            }
        }
        wakeReader()
        return cancel
    }
}

extension URLSessionTransfer.State {
    /// Returns more of what was received, or the end; returns `nil` if there is nothing yet.
    fileprivate mutating func takePart() -> Result<[UInt8]?, HTTPFailure>? {
        do throws(HTTPFailure) {
            if let bytes = try unread.take() { return .success(bytes) }
        } catch {
            return .failure(error)
        }
        return end.map { $0.map { nil } }
    }
}

/// The bytes of a body that were received and not read, in order: first those in memory, then those in a file.
private struct UnreadBytes {
    /// The maximum number of bytes that are read from the file at once.
    private static let pieceSize = 256 << 10
    /// The maximum number of bytes in memory.
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
        let isWritten = data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = pwrite(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
                rest = rest.dropFirst(count)
            }
            return true
        }
        if !isWritten { throw Self.failure() }
    }

    /// Reads the next bytes; returns none at the present end.
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
