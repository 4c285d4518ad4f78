import Backplane
import BackplaneNetwork
import Synchronization

/// The time limits, the size limit, the progress and the timings of one exchange.
struct ExchangeWatch: Sendable {
    private let request: HTTPRequest
    private let options: HTTPOptions
    let clock: any DeadlineClock
    private let start: Deadline

    init(_ request: HTTPRequest, _ options: HTTPOptions, _ clock: any DeadlineClock, since start: Deadline? = nil) {
        (self.request, self.options, self.clock) = (request, options, clock)
        self.start = start ?? clock.moment
    }

    /// Returns the watch for a replacement request, with the same start time.
    func replacing(_ request: HTTPRequest, _ options: HTTPOptions) -> ExchangeWatch {
        ExchangeWatch(request, options, clock, since: start)
    }

    /// Opens the exchange.
    ///
    /// - Parameter given: The options to pass to the executor.
    func open(_ executor: any HTTPExecutor, _ given: HTTPOptions) async throws -> HTTPStreamedResponse {
        try executor.require(request, options)
        let meter = options.progress.map(ProgressMeter.init)
        let outgoing = meter.map { metered(executor, $0) } ?? request
        let given = reporting(given, meter)
        var response = try await limitedToHead { try await executor.open(outgoing, given) }
        response.timings.head = clock.moment - start
        try begin(&response, meter)
        guard watchesBody else { return response }
        response.body = counted(response.body, meter) { [body = response.body] in
            let rest = options.totalTimeout.map { $0 - (clock.moment - start) }
            let isTotal = rest.map { $0 <= options.readTimeout ?? $0 } ?? false
            return try await limited(
                isTotal ? options.totalTimeout : options.readTimeout, since: isTotal ? start : nil,
                isTotal ? "did not answer completely" : "sent none of the body"
            ) { try await body.next() }
        }
        return response
    }

    /// Makes the exchange, and writes the body of the response to a file.
    ///
    /// One race watches all limits, since nothing is waited for between the pieces.
    ///
    /// - Parameters:
    ///   - headed: A function that is called with a response before its body is written, and again if another attempt
    ///     follows.
    ///   - making: A function that returns the executor, which completes responses with the given function.
    func download(
        to path: String, headed: @escaping @Sendable (HTTPStreamedResponse) -> Void,
        by making: (@escaping @Sendable (HTTPStreamedResponse) async throws -> HTTPStreamedResponse) async throws
            -> any HTTPExecutor
    ) async throws -> HTTPResponse {
        let meter = options.progress.map(ProgressMeter.init)
        /// The times of the head and of the last piece.
        let arrival = Mutex<(head: Deadline?, last: Deadline?)>((nil, nil))
        let executor = try await making { response in
            var response = response
            try Task.checkCancellation()  // an abandoned exchange is no longer reported
            arrival.withLock { $0 = (clock.moment, clock.moment) }
            defer { arrival.withLock { $0.last = nil } }
            headed(response)
            try begin(&response, meter)
            try await counted(response.body, meter) { [body = response.body] in
                let piece = try await body.next()
                try Task.checkCancellation()
                arrival.withLock { $0.last = clock.moment }
                return piece
            }.write(to: path)
            response.body = HTTPBodyStream([])
            return response
        }
        try executor.require(request, options)
        let outgoing = meter.map { metered(executor, $0) } ?? request
        let whole = try await Race.run(by: clock) {
            try await executor.open(outgoing, reporting(options, meter))
        } watchedBy: {
            look(arrival.withLock { $0 })
        }
        var response = HTTPResponse(status: whole.status, headers: whole.headers)
        (response.url, response.timings) = (whole.url, whole.timings)
        let head = arrival.withLock { $0.head }
        response.timings.head = head.map { $0 - start }
        response.timings.body = head.map { clock.moment - $0 }
        return response
    }

    /// Checks whether a limit of a download has passed; returns the time of the next check, or `nil` without a limit.
    private func look(_ arrival: (head: Deadline?, last: Deadline?)) -> Race.Look? {
        var limits: [(end: Deadline, failure: HTTPFailure?)] = []
        if let total = options.totalTimeout {
            let what = arrival.head == nil ? "did not answer" : "did not answer completely"
            limits.append((start + total, .late(what, limit: total)))
        }
        if arrival.head == nil, let head = options.headTimeout {
            limits.append((start + head, .late("did not answer", limit: head)))
        }
        if let read = options.readTimeout {
            if let last = arrival.last {
                limits.append((last + read, .late("sent none of the body", limit: read)))
            } else {
                limits.append((clock.moment + max(read, .milliseconds(100)), nil))  // it counts from the head
            }
        }
        guard let next = limits.min(by: { $0.end < $1.end }) else { return nil }
        guard let failure = next.failure, next.end <= clock.moment else { return .again(next.end) }
        return .over(failure.error(for: request))
    }

    /// Notes the head of a response.
    ///
    /// - Throws: `network.too-large` if it announces a body beyond the limit.
    private func begin(_ response: inout HTTPStreamedResponse, _ meter: ProgressMeter?) throws {
        let length = response.hasBody(for: request) ? response.contentLength : nil
        meter?.begin(receiving: length)
        guard let limit = options.maximumBodySize, let length, length > limit else { return }
        response.body.cancel()
        throw HTTPFailure.tooLarge(limit: limit).error(for: request)
    }

    /// Returns the request with a body that counts the bytes read from it, if the executor can stream it.
    private func metered(_ executor: any HTTPExecutor, _ meter: ProgressMeter) -> HTTPRequest {
        guard !request.body.isEmpty, executor.capabilities.contains(.streamedUploads) else { return request }
        var request = request
        request.body = request.body.observed(opened: meter.begin(sending:), taken: meter.sent)
        return request
    }

    /// Returns the options with which an executor that does not stream the body reports the bytes that it has sent.
    private func reporting(_ options: HTTPOptions, _ meter: ProgressMeter?) -> HTTPOptions {
        guard let meter, !request.body.isEmpty else { return options }
        var options = options
        options.sent = meter.sent(_:of:)
        return options
    }

    private var watchesBody: Bool {
        options.progress != nil || options.received != nil || options.maximumBodySize != nil
            || options.readTimeout != nil
            || options.totalTimeout != nil
    }

    /// Returns the body with its size limit and its progress.
    ///
    /// - Parameter next: A function that reads the next piece of the body.
    private func counted(
        _ body: HTTPBodyStream, _ meter: ProgressMeter?, _ next: @escaping HTTPBodyStream.Next
    ) -> HTTPBodyStream {
        let count = Mutex(0)
        return HTTPBodyStream(length: body.length, cancel: body.cancel) {
            guard let piece = try await next() else { return nil }
            let total = count.withLock { count in
                count += piece.count
                return count
            }
            if let limit = options.maximumBodySize, total > limit {
                body.cancel()
                throw HTTPFailure.tooLarge(limit: limit).error(for: request)
            }
            meter?.received(piece.count)
            options.received?(piece.count)
            return piece
        }
    }

    /// Runs a step that precedes the head of the response, and fails once the time limit for the head has passed.
    func limitedToHead<Value: Sendable>(_ step: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let limit = [options.headTimeout, options.totalTimeout].compactMap(\.self).min()
        return try await limited(limit, since: start, "did not answer", step)
    }

    /// Runs a step of the exchange, and fails once a time limit has passed.
    ///
    /// - Parameter start: The time at which the limit starts; `nil` means the start of the step.
    func limited<Value: Sendable>(
        _ limit: Duration?, since start: Deadline? = nil, _ what: String,
        _ step: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await step() }
        let left = start.map { limit - (clock.moment - $0) } ?? limit
        return try await Race.run(
            by: clock, step, within: left,
            otherwise: HTTPFailure.late(what, limit: [limit, .zero].max() ?? limit).error(for: request))
    }
}

/// The byte counts of both bodies.
private final class ProgressMeter: Sendable {
    private let report: @Sendable (HTTPProgress) -> Void
    private let progress = Mutex(HTTPProgress())

    init(_ report: @escaping @Sendable (HTTPProgress) -> Void) { self.report = report }

    /// Starts to count a request's body, again if it is resent.
    func begin(sending length: Int64?) {
        progress.withLock { progress in (progress.sent, progress.toSend) = (0, length) }
    }

    /// Starts to count a response's body, again if another attempt follows.
    func begin(receiving length: Int64?) {
        progress.withLock { progress in (progress.received, progress.toReceive) = (0, length) }
    }

    func sent(_ count: Int) { change { $0.sent += Int64(count) } }

    @Sendable func sent(_ count: Int64, of length: Int64) {
        change { ($0.sent, $0.toSend) = (count, length > 0 ? length : $0.toSend) }
    }

    func received(_ count: Int) { change { $0.received += Int64(count) } }

    /// Changes the counts, and reports them before any further change.
    private func change(_ change: (inout HTTPProgress) -> Void) {
        progress.withLock { progress in
            change(&progress)
            report(progress)
        }
    }
}
