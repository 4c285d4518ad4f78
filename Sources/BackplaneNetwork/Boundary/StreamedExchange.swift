import Backplane
import CBackplane
import Synchronization

/// An HTTP exchange of a component with bodies streamed in both directions, through `backplane.http`.
final class StreamedExchange: Sendable {
    typealias Waiter = UnsafeContinuation<Result<HTTPStreamedResponse, BackplaneError>, Never>

    private struct State {
        var waiter: Waiter?
        /// The response whose body is written to a file.
        var response: HTTPStreamedResponse?
        var failure: BackplaneError?
    }
    private let table: ConstantPointer<bp_http_1>
    private let component: UInt64
    private let options: HTTPOptions
    /// The path of the file to which the host writes the body; empty if the body is read.
    private let download: String
    private let state = Mutex(State())
    /// A Boolean value that indicates whether opening waits for the end, because the host writes the body to a file.
    private var waitsForEnd: Bool { !download.isEmpty }

    init(_ table: ConstantPointer<bp_http_1>, component: UInt64, _ options: HTTPOptions, download: String) {
        (self.table, self.component, self.options, self.download) = (table, component, options, download)
    }

    /// Starts the exchange, and waits until the head of the response, or the file with its body, is complete.
    func open(
        _ request: HTTPRequest, _ source: BodySource?, upload: String, _ call: Call
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        let cancellation = Cancellation { [table, component] in table.pointer.pointee.cancel(component, $0) }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (waiter: Waiter) in
                state.withLock { $0.waiter = waiter }
                cancellation.began(begin(request, source, upload: upload, call))
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func begin(_ request: HTTPRequest, _ source: BodySource?, upload: String, _ call: Call) -> UInt64 {
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
            let version = head.protocol.text, exchange = head.exchange, acceptance = acceptance(of: exchange)
            var response = HTTPStreamedResponse(
                status: Int(head.status), headers: headers, version: version.isEmpty ? nil : version,
                body: waitsForEnd ? HTTPBodyStream([]) : body(of: exchange, holding: acceptance))
            response.timings.attempts = Int(head.attempt)
            response.timings.head = .nanoseconds(head.after_ns)
            response.url = head.url.length == 0 ? nil : head.url.text
            response.source = ResponseSource(rawValue: head.source.text)
            response.age = head.age_ns < 0 ? nil : .nanoseconds(head.age_ns)
            response.isStale = head.flags & UInt32(BP_HTTP_STALE) != 0
            response.acceptance = acceptance
            let waiter = state.withLock { state in
                if waitsForEnd { state.response = response }
                return waitsForEnd ? nil : state.waiter.take()
            }
            waiter?.resume(returning: .success(response))
        default: break  // of a newer host
        }
    }

    private func ended(_ status: Int32, _ payload: bp_bytes) {
        let failure = status == Int32(BP_OK) ? nil : EncodedAnswer(status, payload).error
        let (waiter, response) = state.withLock { state in
            state.failure = failure
            return (state.waiter.take(), state.response.take())
        }
        let noHead = BackplaneError(.networkFailed, "the host returned no response")
        waiter?.resume(returning: failure.map { .failure($0) } ?? response.map { .success($0) } ?? .failure(noHead))
    }

    /// Returns the acceptance of a response that may be stored in a cache; `nil` for any other response.
    private func acceptance(of exchange: UInt64) -> CacheAcceptance? {
        guard options.isWhole, options.cache != .none else { return nil }
        return CacheAcceptance { [table, component] in
            table.pointer.pointee.accept(component, exchange)
        } dropped: { [table, component] in
            table.pointer.pointee.cancel(component, exchange)
        }
    }

    /// - Parameter acceptance: The acceptance, which is retained while the body may be read, since releasing it ends
    ///   the exchange.
    private func body(of exchange: UInt64, holding acceptance: CacheAcceptance?) -> HTTPBodyStream {
        HTTPBodyStream(cancel: { self.cancel(exchange) }) {
            defer { withExtendedLifetime(acceptance) {} }
            return try await self.next(of: exchange)
        }
    }

    private func cancel(_ exchange: UInt64) { table.pointer.pointee.cancel(component, exchange) }

    private func next(of exchange: UInt64) async throws(BackplaneError) -> [UInt8]? {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (reader: ChunkReader) in
                table.pointer.pointee.read(component, exchange, .max, resumeReader, Box(reader).toContext())
            }
        } onCancel: {
            cancel(exchange)
        }
        do throws(BackplaneError) { return try result.get() } catch {
            // If the exchange has ended in the meantime, the host no longer knows it, but this side has its error.
            throw state.withLock { $0.failure } ?? error
        }
    }
}
