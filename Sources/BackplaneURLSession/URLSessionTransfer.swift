import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import FoundationNetworking
import Synchronization

/// An HTTP exchange: the head and then the body, whose unread bytes are held in memory up to a limit.
///
/// It ends once: by its server, the limit, its reader or the end of the session.
final class URLSessionTransfer: Sendable {
    typealias Head = Result<HTTPURLResponse, HTTPFailure>

    /// The destination of a body that is not held in memory, and the functions that are notified of it.
    struct Sink: Sendable {
        let file: IncomingFile
        /// The function that is called with the head, and returns whether to receive the body.
        let headed: @Sendable (HTTPURLResponse) -> Bool
        let received: @Sendable (Int) -> Void
    }

    fileprivate struct State {
        var end: Result<Void, HTTPFailure>?
        var hasHead = false
        var unread: [Data] = []
        /// The number of the bytes in `unread`, or of those written to the file.
        var count = 0
        var headWaiter: CheckedContinuation<Head, Never>?
        var reader: CheckedContinuation<Result<[UInt8]?, HTTPFailure>, Never>?
        var cancel: (@Sendable () -> Void)?
    }
    private let limit: Int
    private let sink: Sink?
    private let state = Mutex(State())

    /// Creates an exchange that has not been started.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of unread bytes, or of all bytes of a body that goes to a file.
    ///   - sink: The destination of the body, instead of memory.
    init(limit: Int, into sink: Sink? = nil) { (self.limit, self.sink) = (limit, sink) }

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
        let (isTaken, failure) = state.withLock { state -> (Bool, HTTPFailure?) in
            guard state.end == nil else { return (false, nil) }
            state.count += data.count
            guard state.count <= limit else { return (false, .tooLarge(limit: limit)) }
            guard let sink else {
                state.unread.append(data)
                return (true, nil)
            }
            do throws(BackplaneError) {
                try sink.file.write(data)
                return (true, nil)
            } catch {
                return (false, .unwritable(error.message, path: error.location ?? ""))
            }
        }
        if let failure { return cancel(failure) }
        guard isTaken else { return }
        if let sink { sink.received(data.count) } else { wakeReader() }
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
        let isWanted = sink?.headed(response) ?? true
        // The head alone may be wanted: that of a redirect, or of an attempt that is followed by another.
        waiter.resume(returning: .success(response))
        if !isWanted { cancel(.shutDown) } else if isTooLarge { cancel(.tooLarge(limit: limit)) }
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
            if case .failure = result { (state.unread, state.count) = ([], 0) }
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
    /// Returns everything received so far, or the end; returns `nil` if there is nothing yet.
    fileprivate mutating func takePart() -> Result<[UInt8]?, HTTPFailure>? {
        if !unread.isEmpty {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count)
            for data in unread { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
            (unread, count) = ([], 0)
            return .success(bytes)
        }
        return end.map { $0.map { _ in nil as [UInt8]? } }
    }
}
