import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The component's side of an exchange.
///
/// ``ended(_:)`` is called once, as the last function, when none of the others is running.
protocol ExchangeClient: Sendable {
    /// A Boolean value that indicates whether the client is notified of progress.
    var wantsProgress: Bool { get }
    /// A Boolean value that indicates whether the client is notified of interim responses.
    var wantsInterim: Bool { get }
    /// A Boolean value that indicates whether the client is notified of the outcome of each attempt.
    var wantsAttempts: Bool { get }

    func headed(_ head: ExchangeHead)
    func progressed(_ progress: HTTPProgress)
    /// Ends the exchange; the response includes its body if the body was collected.
    func ended(_ result: Result<HTTPResponse, BackplaneError>)
}

/// The head of one response of an exchange's series, or the outcome of an attempt.
struct ExchangeHead: Sendable {
    enum Kind: Sendable {
        case interim, final, attempt
    }
    var exchange: UInt64
    var number: UInt32
    var kind = Kind.final
    /// The status; 0 for an attempt without a response.
    var status: Int
    var headers: HTTPHeaders
    var version: String?
    /// The origin of the response: `network` or `file`; for an attempt without a response, the code of its error.
    var source: String
    var length: Int64?
    var attempt = 1
    /// The time from the start of the exchange.
    var after: Duration
}

/// The destination of a response's body.
enum ExchangeDelivery: Sendable {
    /// The body is read piece by piece.
    case reads
    /// The body is collected in memory, up to a number of bytes.
    case whole(upTo: Int)
    /// The body is written to a file, which appears once it is complete.
    case file(String)
}

/// One exchange of a component, from its start until its client has been notified of the end.
final class Exchange: Sendable {
    private struct State {
        /// The step in progress: the opening, or a read.
        var task: Task<Void, Never>?
        /// The number of responses so far.
        var number: UInt32 = 0
        var body: HTTPBodyStream?
        /// The bytes of a chunk that exceed the requested number.
        var rest: ArraySlice<UInt8> = []
        var reader: ChunkReply?
        /// The time of the body's last progress; `nil` before the head.
        var lastRead: Deadline?
        /// The status of the final response, once its head has arrived.
        var status: Int?
        var result: Result<HTTPResponse, BackplaneError>?
        /// The number of the client's functions that are running.
        var notices = 0
        var hasReported = false
    }
    /// The maximum number of bytes of one piece.
    static let pieceSize = 256 << 10

    let id: UInt64
    /// The number of the timer that checks whether the response is being read.
    let watch = Callbacks.newID()
    let request: HTTPRequest
    private let options: HTTPOptions
    private let delivery: ExchangeDelivery
    private let client: any ExchangeClient
    /// The body of the request, if the component produces it.
    private let source: ComponentBody?
    private let counts: ExchangeCounts
    private let clock: any HostClock
    private let start: Deadline
    private let state = Mutex(State())
    /// The function that is called before the client is notified of the end, with the response's status if there was
    /// one.
    private let note: @Sendable (Exchange, Int?, BackplaneError?) -> Void
    /// The function that is called after the client has been notified of the end.
    private let forget: @Sendable (Exchange) -> Void

    /// The time since the start.
    var duration: Duration { clock.moment - start }

    init(
        _ id: UInt64, _ request: HTTPRequest, _ source: ComponentBody?, _ options: HTTPOptions,
        _ delivery: ExchangeDelivery, _ client: any ExchangeClient, _ counts: ExchangeCounts,
        _ clock: any HostClock,
        note: @escaping @Sendable (Exchange, Int?, BackplaneError?) -> Void,
        forget: @escaping @Sendable (Exchange) -> Void
    ) {
        (self.id, self.request, self.source, self.options) = (id, request, source, options)
        (self.delivery, self.client, self.counts, self.clock) = (delivery, client, counts, clock)
        (self.note, self.forget, start) = (note, forget, clock.moment)
        counts.began()
    }

    // MARK: Opening

    /// Begins the exchange.
    ///
    /// - Parameter cleanUp: A function that is called before a download.
    func begin(_ network: HTTPPipeline, _ cleanUp: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.result == nil else { return }
            state.task = Task {
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
        if client.wantsProgress {
            options.progress = { [weak self] progress in self?.notify { $0.progressed(progress) } }
        }
        if client.wantsInterim {
            options.interim = { [weak self] status, headers in
                self?.report(HTTPStreamedResponse(HTTPResponse(status: status, headers: headers)), isInterim: true)
            }
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
            let response = try await network.send(request, upTo: limit, options) { bytesPassed() }
            countSent()
            counts.received(response.body.count)
            state.withLock { $0.status = response.status }
            end(.success(response))
        case .file(let path):
            // The head is that of the last attempt, which is known at the end if there may be several.
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
                if state.result == nil { state.body = response.body }
                return state.result != nil
            }
            if hasEnded { return response.body.cancel() }
            headArrived(response)
            // It cannot be idle before the component has it.
            bytesPassed()
        }
    }

    private func bytesPassed() { state.withLock { $0.lastRead = clock.moment } }

    private func headArrived(_ response: HTTPStreamedResponse, after time: Duration? = nil) {
        source?.headArrived()
        countSent()
        report(response, isInterim: false, after: time)
    }

    /// Counts a body that is in memory or a file; the pieces of other bodies are counted as they are consumed.
    private func countSent() {
        if let bytes = request.body.bytes {
            counts.sent(bytes.count)
        } else if let path = request.body.file {
            counts.sent((try? FileStatus(at: path).size) ?? 0)
        }
    }

    private func report(_ response: HTTPStreamedResponse, isInterim: Bool, after time: Duration? = nil) {
        let number = state.withLock { state in
            state.number += 1
            if !isInterim { state.status = response.status }
            return state.number
        }
        let head = ExchangeHead(
            exchange: id, number: number, kind: isInterim ? .interim : .final, status: response.status,
            headers: response.headers,
            version: response.version, source: request.scheme == "file" ? "file" : "network",
            length: response.contentLength, attempt: response.timings.attempts,
            after: time ?? duration)
        notify { $0.headed(head) }
    }

    private func report(_ attempt: HTTPAttempt) {
        let head = ExchangeHead(
            exchange: id, number: 0, kind: .attempt, status: attempt.status ?? 0, headers: [:],
            source: attempt.error?.rawValue ?? "network", attempt: attempt.number, after: duration)
        notify { $0.headed(head) }
    }

    // MARK: Reading

    /// Reads the next piece of the body of a response.
    func read(_ number: UInt32, upTo most: Int, _ reply: ChunkReply) {
        enum Step {
            case hand(ArraySlice<UInt8>)
            case wait
            case end
            case refuse(BackplaneError)
        }
        let step = state.withLock { state -> Step in
            switch state.result {
            case .success?: return .end
            case .failure(let error)?: return .refuse(error)
            case nil: break
            }
            guard let body = state.body, number == state.number else {
                return .refuse(.unreadable("there is no response number \(number) whose body could be read"))
            }
            guard state.reader == nil else {
                return .refuse(.unreadable("the body is being read; wait for the answer before the next read"))
            }
            let most = max(1, min(most, Self.pieceSize))
            if !state.rest.isEmpty {
                defer { state.rest = state.rest.dropFirst(most) }
                state.notices += 1
                return .hand(state.rest.prefix(most))
            }
            state.reader = reply
            state.task = Task { await self.pull(body, most) }
            return .wait
        }
        switch step {
        case .hand(let bytes):
            counts.received(bytes.count)
            reply.end(bytes)
            noticed(read: true)
        case .wait: break
        case .end: reply.end(trailers: [:])
        case .refuse(let error): reply.end(error)
        }
    }

    private func pull(_ body: HTTPBodyStream, _ most: Int) async {
        do {
            guard let chunk = try await body.next() else { return finish(body.trailers) }
            let reader = state.withLock { state in
                guard let reader = state.reader.take() else { return ChunkReply?.none }
                state.rest = chunk.dropFirst(most)
                state.notices += 1
                return reader
            }
            guard let reader else { return }
            counts.received(min(most, chunk.count))
            reader.end(chunk.prefix(most))
            noticed(read: true)
        } catch {
            end(.failure(failure(error)))
        }
    }

    private func finish(_ trailers: HTTPHeaders) {
        let reader = state.withLock { state -> ChunkReply? in
            guard state.result == nil else { return nil }
            state.result = .success(HTTPResponse(status: 200))
            state.notices += 1
            return state.reader.take()
        }
        guard let reader else { return }
        counts.ended(nil)
        source?.exchangeEnded()
        reader.end(trailers: trailers)
        noticed()
    }

    /// Returns the time at which the body will have been idle for too long; `nil` if the exchange has ended.
    ///
    /// A body that the component reads is idle while it is not read; any other body, while its server sends nothing.
    func idleDeadline(_ limit: Duration) -> Deadline? {
        state.withLock { state in
            guard state.result == nil else { return nil }
            return (state.reader == nil ? state.lastRead ?? clock.moment : clock.moment) + limit
        }
    }

    /// Ends the exchange because its body has been idle for too long.
    func endIdle(_ limit: Duration) {
        let words =
            if case .reads = delivery {
                "the response was not read for \(limit); read it, or release it"
            } else {
                "the server sent none of the body for \(limit)"
            }
        end(.failure(BackplaneError(.networkTimeout, words, at: request.printableURL)))
    }

    // MARK: Ending

    /// Ends the exchange, unless it has ended, and answers the read in progress.
    func end(_ result: Result<HTTPResponse, BackplaneError>) {
        let held = state.withLock { state -> (ChunkReply?, Task<Void, Never>?, HTTPBodyStream?)? in
            guard state.result == nil else { return nil }
            state.result = result
            state.notices += 1
            state.rest = []
            return (state.reader.take(), state.task.take(), state.body.take())
        }
        guard let (reader, task, body) = held else { return }
        counts.ended(result.failure)
        if case .failure = result { task?.cancel() }
        body?.cancel()
        source?.exchangeEnded()
        if let reader {
            switch result {
            case .success: reader.end(trailers: [:])
            case .failure(let error): reader.end(error)
            }
        }
        noticed()
    }

    /// Calls a function of the client, unless the exchange has ended.
    private func notify(_ call: (any ExchangeClient) -> Void) {
        let isOpen = state.withLock { state in
            if state.result == nil { state.notices += 1 }
            return state.result == nil
        }
        guard isOpen else { return }
        call(client)
        noticed()
    }

    /// Counts the return of a client's function, and notifies the client of the end after the last one.
    private func noticed(read: Bool = false) {
        let ended = state.withLock { state -> (Result<HTTPResponse, BackplaneError>, status: Int?)? in
            state.notices -= 1
            if read { state.lastRead = clock.moment }
            guard let result = state.result, state.notices == 0, !state.hasReported else { return nil }
            state.hasReported = true
            return (result, state.status)
        }
        guard let (result, status) = ended else { return }
        note(self, status, result.failure)
        client.ended(result)
        forget(self)
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
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension BackplaneError {
    static var exchangeCancelled: BackplaneError { BackplaneError(.callCancelled, "the exchange was cancelled") }

    fileprivate static func unreadable(_ why: String) -> BackplaneError { BackplaneError(.networkBody, why) }
}
