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
        var response = try await limitedToHead { try await executor.open(outgoing, given) }
        response.timings.head = clock.moment - start
        meter?.begin(receiving: response.hasBody(for: request) ? response.contentLength : nil)
        if let limit = options.maximumBodySize, let length = response.contentLength, length > limit,
            response.hasBody(for: request)
        {
            response.body.cancel()
            throw HTTPFailure.tooLarge(limit: limit).error(for: request)
        }
        if watchesBody { response.body = watched(response.body, meter) }
        return response
    }

    /// Writes the body of the response to a file.
    ///
    /// - Parameter headed: A function that is called with the head of a response, and again if another attempt follows.
    func download(
        _ executor: any HTTPFileExecutor, to path: String,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Void
    ) async throws -> HTTPResponse {
        try executor.require(request, options)
        let meter = options.progress.map(ProgressMeter.init)
        let outgoing = meter.map { metered(executor, $0) } ?? request
        let head = Moment(), isOver = Atomic(false)
        defer { isOver.store(true, ordering: .relaxed) }  // an abandoned exchange is no longer reported
        var response = try await Race.run(by: clock) {
            try await executor.download(outgoing, to: path, options) { response in
                guard !isOver.load(ordering: .relaxed) else { return false }
                head.time = clock.moment
                meter?.begin(receiving: response.hasBody(for: request) ? response.contentLength : nil)
                headed(response)
                return true
            } received: { count in
                guard !isOver.load(ordering: .relaxed) else { return }
                meter?.received(count)
                options.received?(count)
            }
        } watchedBy: {
            look(hasHead: head.time != nil)
        }
        response.timings.head = head.time.map { $0 - start }
        response.timings.body = head.time.map { clock.moment - $0 }
        return response
    }

    /// Checks whether a limit of a download has passed; returns the time of the next check, or `nil` without a limit.
    private func look(hasHead: Bool) -> Race.Look? {
        let limits =
            hasHead
            ? [(options.totalTimeout, "did not answer completely")]
            : [(options.totalTimeout, "did not answer"), (options.headTimeout, "did not answer")]
        let next = limits.compactMap { limit, what in limit.map { (limit: $0, what: what) } }
            .min { $0.limit < $1.limit }
        guard let next else { return nil }
        guard start + next.limit <= clock.moment else { return .again(start + next.limit) }
        return .over(HTTPFailure.late(next.what, limit: next.limit).error(for: request))
    }

    /// Returns the request with a body that counts the bytes read from it, if the executor can stream it.
    private func metered(_ executor: any HTTPExecutor, _ meter: ProgressMeter) -> HTTPRequest {
        guard !request.body.isEmpty, executor.capabilities.contains(.streamedUploads) else { return request }
        var request = request
        request.body = request.body.observed(opened: meter.begin(sending:), taken: meter.sent)
        return request
    }

    private var watchesBody: Bool {
        options.progress != nil || options.received != nil || options.maximumBodySize != nil
            || options.readTimeout != nil
            || options.totalTimeout != nil
    }

    /// Returns the body with its limits.
    private func watched(_ body: HTTPBodyStream, _ meter: ProgressMeter?) -> HTTPBodyStream {
        let count = Mutex(0)
        return HTTPBodyStream(length: body.length, cancel: body.cancel) {
            let rest = options.totalTimeout.map { $0 - (clock.moment - start) }
            let isTotal = rest.map { $0 <= options.readTimeout ?? $0 } ?? false
            let chunk = try await limited(
                isTotal ? options.totalTimeout : options.readTimeout, since: isTotal ? start : nil,
                isTotal ? "did not answer completely" : "sent none of the body"
            ) { try await body.next() }
            guard let chunk else { return nil }
            let total = count.withLock { count in
                count += chunk.count
                return count
            }
            if let limit = options.maximumBodySize, total > limit {
                body.cancel()
                throw HTTPFailure.tooLarge(limit: limit).error(for: request)
            }
            meter?.received(chunk.count)
            options.received?(chunk.count)
            return chunk
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

    func received(_ count: Int) { change { $0.received += Int64(count) } }

    /// Changes the counts, and reports them before any further change.
    private func change(_ change: (inout HTTPProgress) -> Void) {
        progress.withLock { progress in
            change(&progress)
            report(progress)
        }
    }
}
