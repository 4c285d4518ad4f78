import Backplane
import CBackplane
import Synchronization

/// An HTTP exchange of a component with bodies streamed in both directions, through `backplane.http`.
final class StreamedExchange: Sendable {
    /// The head of the response, and the number for reading its body.
    struct Head: Sendable {
        var response: HTTPResponse
        var version: String?
        /// The number of the exchange.
        var exchange: UInt64
    }
    typealias Waiter = UnsafeContinuation<Result<Head, BackplaneError>, Never>

    private struct State {
        /// The task that opens the exchange, while it waits for the response.
        var waiter: Waiter?
        var head: Head?
        /// The error that ended the exchange.
        var failure: BackplaneError?
    }
    private let table: ConstantPointer<bp_http_1>
    private let component: UInt64
    private let options: HTTPOptions
    /// A Boolean value that indicates whether the body is written to a file, so that opening waits for its end.
    private let waitsForEnd: Bool
    private let state = Mutex(State())

    init(
        _ table: ConstantPointer<bp_http_1>, component: UInt64, _ options: HTTPOptions, waitsForEnd: Bool
    ) {
        (self.table, self.component, self.options) = (table, component, options)
        self.waitsForEnd = waitsForEnd
    }

    /// Starts the exchange, and waits until the head of the response, or the file with its body, is complete.
    ///
    /// - Parameters:
    ///   - source: The body, unless it is in memory or the file of `upload`.
    ///   - upload: The path of the file that is the request's body; empty if there is none.
    ///   - download: The path of the file to which the response's body is written; empty if it is read.
    func open(_ request: HTTPRequest, _ source: BodySource?, upload: String, download: String, _ call: Call)
        async throws(BackplaneError) -> Head
    {
        let cancellation = Cancellation { [table, component] in table.pointer.pointee.cancel(component, $0) }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (waiter: Waiter) in
                state.withLock { $0.waiter = waiter }
                cancellation.began(begin(request, source, upload: upload, download: download, call))
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func begin(
        _ request: HTTPRequest, _ source: BodySource?, upload: String, download: String, _ call: Call
    ) -> UInt64 {
        var functions = bp_http_exchange(
            size: UInt32(MemoryLayout<bp_http_exchange>.size), reserved: 0,
            head: { context, head in StreamedExchange.at(context).headed(head) }, progress: nil,
            ended: { context, status, payload in
                Unmanaged<StreamedExchange>.fromOpaque(context!).takeRetainedValue().ended(status, payload)
            }, context: Unmanaged.passRetained(self).toOpaque())
        if options.progress != nil {
            functions.progress = { context, progress in
                StreamedExchange.at(context).options.progress?(HTTPProgress(copying: progress))
            }
        }
        return request.withC { request in
            options.withC(upload: upload, download: download) { options in
                call.withC { call in
                    guard let source else {
                        return table.pointer.pointee.open(component, request, options, nil, &functions, call)
                    }
                    return source.withC {
                        table.pointer.pointee.open(component, request, options, $0, &functions, call)
                    }
                }
            }
        }
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> StreamedExchange {
        guard let context else { preconditionFailure("an exchange was called without its context") }
        return Unmanaged<StreamedExchange>.fromOpaque(context).takeUnretainedValue()
    }

    private func headed(_ borrowed: UnsafePointer<bp_http_head>) {
        let head: bp_http_head = read(borrowed)
        let headers = HTTPHeaders(copying: head.headers, count: head.header_count)
        switch Int(head.kind) {
        case Int(BP_HTTP_ATTEMPT):
            options.attempted?(
                HTTPAttempt(
                    number: Int(head.attempt), status: head.status == 0 ? nil : Int(head.status),
                    error: head.status == 0 ? BackplaneError.Code(rawValue: head.source.text) : nil))
        case Int(BP_HTTP_RESPONSE):
            var response = HTTPResponse(status: Int(head.status), headers: headers)
            response.timings.attempts = Int(head.attempt)
            response.timings.head = .nanoseconds(head.after_ns)
            response.url = head.url.length == 0 ? nil : head.url.text
            let version = head.protocol.text
            let final = Head(
                response: response, version: version.isEmpty ? nil : version, exchange: head.exchange)
            let waiter = state.withLock { state in
                state.head = final
                return waitsForEnd ? nil : state.waiter.take()
            }
            waiter?.resume(returning: .success(final))
        default: break  // of a newer host
        }
    }

    private func ended(_ status: Int32, _ payload: bp_bytes) {
        let failure = status == Int32(BP_OK) ? nil : EncodedAnswer(status, payload).error
        let (waiter, head) = state.withLock { state in
            state.failure = failure
            return (state.waiter.take(), state.head)
        }
        let noHead = BackplaneError(.networkFailed, "the host returned no response")
        waiter?.resume(returning: failure.map { .failure($0) } ?? head.map { .success($0) } ?? .failure(noHead))
    }

    /// Returns the body of the response, which is read on request.
    func body(of head: Head) -> HTTPBodyStream {
        HTTPBodyStream(cancel: { self.cancel(head.exchange) }) { try await self.next(of: head) }
    }

    private func cancel(_ exchange: UInt64) { table.pointer.pointee.cancel(component, exchange) }

    private func next(of head: Head) async throws(BackplaneError) -> [UInt8]? {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (reader: ChunkReader) in
                table.pointer.pointee.read(component, head.exchange, .max, resumeReader, Box(reader).toContext())
            }
        } onCancel: {
            cancel(head.exchange)
        }
        do throws(BackplaneError) { return try result.get() } catch {
            // The exchange may have ended since: then the host knows it no longer, and its own error says why.
            throw state.withLock { $0.failure } ?? error
        }
    }
}
