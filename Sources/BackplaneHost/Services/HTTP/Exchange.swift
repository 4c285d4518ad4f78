import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane
import Synchronization

/// The component's side of an exchange: functions that are called when something happens.
struct ExchangeClient: Sendable {
    /// The function that is called with the head of the response, or the outcome of an attempt.
    var headed: @Sendable (UnsafePointer<bp_http_head>) -> Void = { _ in }
    var progressed: (@Sendable (HTTPProgress) -> Void)?
    var wantsAttempts = false
    /// The function that is called once, as the last one, when none of the others is running; the response includes its
    /// body if the body was collected.
    var ended: Answer<HTTPResponse>
}

enum ExchangeDelivery: Sendable {
    case reads
    case whole(upTo: Int)
    case file(String)
}

/// One exchange of a component, from its start until its client has been notified of the end.
final class Exchange: Sendable {
    private struct State {
        var opening: Task<Void, Never>?
        var body: PieceChannel?
        /// The time of the body's last progress; `nil` before the head.
        var lastRead: Deadline?
        var status: Int?
        var result: Result<HTTPResponse, BackplaneError>?
        /// The number of the client's functions that are running, and of reads that were not answered.
        var notices = 0
    }
    let id: UInt64
    /// The number of the timer that checks whether the response is being read.
    let watch = Callbacks.newID()
    let request: HTTPRequest
    private let options: HTTPOptions
    private let delivery: ExchangeDelivery
    let client: ExchangeClient
    private let source: ComponentBody?
    let trace: Trace?
    private let exchanges: Exchanges
    /// The function that is called once the client has been notified of the end.
    let released: @Sendable () -> Void
    private let start: Deadline
    private let state = Mutex(State())

    private var counts: ExchangeCounts { exchanges.counts }
    private var clock: any HostClock { exchanges.clock }
    var duration: Duration { clock.moment - start }

    init(
        _ id: UInt64, _ request: HTTPRequest, _ source: ComponentBody?, _ options: HTTPOptions,
        _ delivery: ExchangeDelivery, _ client: ExchangeClient, _ trace: Trace?, in exchanges: Exchanges,
        released: @escaping @Sendable () -> Void
    ) {
        (self.id, self.request, self.source, self.options) = (id, request, source, options)
        (self.delivery, self.client, self.trace, self.exchanges) = (delivery, client, trace, exchanges)
        (self.released, start) = (released, exchanges.clock.moment)
        counts.began()
    }

    func begin(_ network: HTTPPipeline, _ cleanUp: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.result == nil else { return }
            state.opening = Task {
                if case .file = self.delivery { cleanUp() }
                do {
                    try await self.run(network)
                } catch {
                    self.end(.failure(self.failure(error)))
                }
            }
        }
    }

    private func run(_ network: HTTPPipeline) async throws {
        var options = options
        if let progressed = client.progressed {
            options.progress = { [weak self] progress in self?.notify { progressed(progress) } }
        }
        if client.wantsAttempts {
            options.attempted = { [weak self] attempt in self?.report(attempt) }
        }
        var request = request
        if let source, source.mayBeCollected,
            try await !network.executor(for: request, options).capabilities.contains(.streamedUploads)
        {
            request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit)
        }
        if case .reads = delivery {} else { options.received = { [weak self] _ in self?.bytesPassed() } }
        switch delivery {
        case .whole(let limit):
            let response = try await network.send(request, upTo: limit, options) { self.bytesPassed() }
            countSent()
            counts.received(response.body.count)
            state.withLock { $0.status = response.status }
            end(.success(response))
        case .file(let path):
            // The head belongs to the last attempt, which is known only at the end if there may be several attempts.
            let mayRepeat = options.retry != nil
            let last = Mutex<(head: HTTPStreamedResponse, after: Duration)?>(nil), response: HTTPResponse
            do {
                defer { if let last = last.withLock({ $0 }) { headArrived(last.head, after: last.after) } }
                response = try await network.download(request, to: path, options) { [self] response in
                    state.withLock { state in (state.lastRead, state.status) = (clock.moment, response.status) }
                    if mayRepeat { last.withLock { $0 = (response, duration) } } else { headArrived(response) }
                }
            }
            counts.received((try? FileStatus(at: path).size) ?? 0)
            end(.success(response))
        case .reads:
            let response = try await network.open(request, options)
            let hasEnded = state.withLock { state in
                if state.result == nil { state.body = PieceChannel(response.body) }
                return state.result != nil
            }
            if hasEnded { return response.body.cancel() }
            if let acceptance = response.acceptance { exchanges.keep(acceptance, of: id) }
            headArrived(response)
            // The response cannot be idle before the component has it.
            bytesPassed()
        }
    }

    private func bytesPassed() { state.withLock { $0.lastRead = clock.moment } }

    private func headArrived(_ response: HTTPStreamedResponse, after time: Duration? = nil) {
        source?.headArrived()
        countSent()
        report(response, after: time)
    }

    /// Counts a body that is in memory or a file; the pieces of other bodies are counted as they are consumed.
    private func countSent() {
        if let bytes = request.body.bytes {
            counts.sent(bytes.count)
        } else if let path = request.body.file {
            counts.sent((try? FileStatus(at: path).size) ?? 0)
        }
    }

    private func report(_ response: HTTPStreamedResponse, after time: Duration? = nil) {
        state.withLock { $0.status = response.status }
        response.headers.withPairs { headers in
            (response.version ?? "").withBytes { version in
                response.source.rawValue.withBytes { source in
                    (response.url ?? "").withBytes { url in
                        var head = bp_http_head(
                            size: UInt32(MemoryLayout<bp_http_head>.size), kind: UInt32(BP_HTTP_RESPONSE),
                            exchange: id, status: UInt32(clamping: response.status),
                            attempt: UInt32(clamping: response.timings.attempts), headers: headers.baseAddress,
                            header_count: headers.count, protocol: version, source: source,
                            length: response.contentLength ?? -1, after_ns: (time ?? duration).nanoseconds, url: url,
                            age_ns: response.age?.nanoseconds ?? -1,
                            flags: response.isStale ? UInt32(BP_HTTP_STALE) : 0, reserved: 0)
                        notify { client.headed(&head) }
                    }
                }
            }
        }
    }

    private func report(_ attempt: HTTPAttempt) {
        (attempt.error?.rawValue ?? "network").withBytes { source in
            var head = bp_http_head(
                size: UInt32(MemoryLayout<bp_http_head>.size), kind: UInt32(BP_HTTP_ATTEMPT), exchange: id,
                status: UInt32(clamping: attempt.status ?? 0), attempt: UInt32(clamping: attempt.number), headers: nil,
                header_count: 0, protocol: .empty, source: source, length: -1, after_ns: duration.nanoseconds,
                url: .empty, age_ns: -1, flags: 0, reserved: 0)
            notify { client.headed(&head) }
        }
    }

    func read(upTo most: Int, _ reply: ChunkReply) {
        do throws(BackplaneError) {
            let body = try state.withLock { state throws(BackplaneError) -> PieceChannel? in
                if let result = state.result {
                    _ = try result.get()
                    return nil
                }
                guard let body = state.body else {
                    throw BackplaneError(.networkBody, "there is no response yet whose body could be read")
                }
                state.notices += 1
                return body
            }
            guard let body else { return reply.end(.success(nil)) }
            do throws(BackplaneError) {
                try body.read(upTo: most) { [self] piece in
                    reply.end(received(piece))
                    noticed(read: true)
                }
            } catch {
                reply.end(error)
                noticed()
            }
        } catch {
            reply.end(error)
        }
    }

    /// Counts a piece; the exchange ends with its body.
    private func received(_ piece: Result<[UInt8]?, any Error>) -> Result<[UInt8]?, BackplaneError> {
        switch piece {
        case .success(let bytes?): counts.received(bytes.count)
        case .success(nil): end(.success(HTTPResponse(status: 200)))
        case .failure(let error): end(.failure(failure(error)))
        }
        // The exchange may have ended for another reason in the meantime.
        if case .failure(let error)? = state.withLock(\.result) { return .failure(error) }
        return piece.mapError { failure($0) }
    }

    /// Returns the time at which the body will have been idle for too long; `nil` if the exchange has ended.
    ///
    /// A body that the component reads is idle while it is not read. Any other body is idle while its server sends
    /// nothing.
    func idleDeadline(_ limit: Duration) -> Deadline? {
        state.withLock { state in
            guard state.result == nil else { return nil }
            return (state.body?.isBeingRead == true ? clock.moment : state.lastRead ?? clock.moment) + limit
        }
    }

    func endIdle(_ limit: Duration) {
        let words =
            if case .reads = delivery {
                "the response was not read for \(limit); read it, or release it"
            } else {
                "the server sent none of the body for \(limit)"
            }
        end(.failure(BackplaneError(.networkTimeout, words, at: request.printableURL)))
    }

    /// Ends the exchange, unless it has ended, and answers the read in progress.
    func end(_ result: Result<HTTPResponse, BackplaneError>) {
        let held = state.withLock { state -> (Task<Void, Never>?, PieceChannel?)? in
            guard state.result == nil else { return nil }
            state.result = result
            state.notices += 1
            return (state.opening.take(), state.body.take())
        }
        guard let (opening, body) = held else { return }
        counts.ended(result.failure)
        if case .failure(let error) = result {
            opening?.cancel()
            body?.fail(error)
        }
        source?.exchangeEnded()
        noticed()
    }

    /// Calls a function of the client, unless the exchange has ended.
    private func notify(_ call: () -> Void) {
        let isOpen = state.withLock { state in
            if state.result == nil { state.notices += 1 }
            return state.result == nil
        }
        guard isOpen else { return }
        call()
        noticed()
    }

    /// Counts the return of a client's function, and notifies the client of the end after the last one.
    private func noticed(read: Bool = false) {
        let ending = state.withLock { state -> (Int?, Result<HTTPResponse, BackplaneError>)? in
            state.notices -= 1
            if read { state.lastRead = clock.moment }
            guard let result = state.result, state.notices == 0 else { return nil }
            return (state.status, result)
        }
        if let (status, result) = ending { exchanges.ended(self, status: status, result) }
    }

    private func failure(_ error: any Error) -> BackplaneError {
        switch error {
        case let error as BackplaneError: error
        case is CancellationError: .exchangeCancelled
        default: BackplaneError(.networkFailed, String(describing: error), at: request.printableURL)
        }
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension BackplaneError {
    static var exchangeCancelled: BackplaneError { BackplaneError(.callCancelled, "the exchange was cancelled") }
}
