import Backplane
import BackplaneNetwork
import Synchronization

/// One exchange of a pipeline, from its first event to the end of its response.
///
/// From the outside in, a request passes the limits, the interceptors of loads, equal requests in flight, the cache,
/// the retries, the redirects, the credential, the interceptors of attempts, the limits for the host, and the executor.
/// The functions below are in this order.
struct ExchangeRun: Sendable {
    typealias Send = @Sendable (HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse
    /// A function that completes the response of an attempt, such as one that writes its body to a file.
    ///
    /// Its errors count as errors of the attempt, and another attempt may follow.
    typealias Complete = @Sendable (HTTPStreamedResponse) async throws -> HTTPStreamedResponse

    private let pipeline: HTTPPipeline
    private let request: HTTPRequest
    private let options: HTTPOptions
    private let start: Deadline
    private let interception: Interception
    /// The token that a redirect repeats; `nil` without a credential.
    private let echoed: EchoedToken?
    private let observed: ObservedExchange?
    private let meter: ProgressMeter?
    private let arrival = Arrival()
    /// The function that is called once the head of a whole response has arrived.
    private var headed: @Sendable () -> Void = {}
    private var clock: any DeadlineClock { pipeline.clock }

    init(_ pipeline: HTTPPipeline, _ request: HTTPRequest, _ options: HTTPOptions) {
        (self.pipeline, self.request, start) = (pipeline, request, pipeline.clock.moment)
        let mayProve = options.credential != nil || pipeline.credentials.isSingle
        interception = Interception(options.interceptors + pipeline.interceptors, options, hidesProof: mayProve)
        echoed = mayProve ? EchoedToken() : nil
        observed = ObservedExchange(ExchangeEvent(request, options), pipeline.observers(), pipeline.clock)
        var options = options
        if let observed {
            options.received = { [own = options.received] count in
                own?(count)
                observed.received(count)
            }
            options.pinMismatched = observed.mismatched
            if !request.body.isEmpty {
                options.progress = { [own = options.progress] progress in
                    own?(progress)
                    observed.sent(progress.sent)
                }
            }
        }
        self.options = options
        meter = options.progress.map(ProgressMeter.init)
    }

    // MARK: Whole, opened and downloaded

    /// - Parameter headed: A function that is called once the head of the response has arrived.
    func whole(upTo limit: Int, headed: @escaping @Sendable () -> Void) async throws -> HTTPResponse {
        var run = self
        run.headed = headed
        let response = try await run.opened()
        if !response.isReceived { headed() }
        return try await response.collect(upTo: limit, of: request)
    }

    func opened() async throws -> HTTPStreamedResponse {
        if !options.isWhole { observed?.streams() }
        return try await observing(ends: false) {
            let limit = [options.headTimeout, options.totalTimeout].compactMap(\.self).min()
            var response =
                options.isWhole
                ? try await watched(patience: { arrival.patience }) { try await load() }
                : try await limited(limit, since: start) { try await load() }
            if response.isReceived, response.body.bytes != nil { return observed?.watching(response) ?? response }
            response.timings.head = clock.moment - start
            try begin(response)
            if options.progress != nil || options.received != nil || options.maximumBodySize != nil {
                response.body = counted(response.body, upTo: options.maximumBodySize, received)
            }
            if options.readTimeout != nil || options.totalTimeout != nil {
                response.body = BodyLimits(response.body, clock) { since in bodyLimit(since: since) }.body
            }
            return observed?.watching(response) ?? response
        }
    }

    func downloaded(
        to path: String, headed: @escaping @Sendable (HTTPStreamedResponse) -> Void
    ) async throws -> HTTPResponse {
        let written = Mutex<HTTPBodyStream?>(nil)
        let write: Complete = { response in
            var response = response
            try Task.checkCancellation()  // an abandoned exchange is no longer reported
            defer { arrival.pause() }
            headed(response)
            try begin(response)
            try await counted(response.body, upTo: options.maximumBodySize, received).write(to: path)
            response.body = HTTPBodyStream([])
            written.withLock { $0 = response.body }
            return response
        }
        return try await observing {
            let last = try await watched {
                let response = try await load(write)
                guard let answer = try await response.answer(insteadOf: written.withLock(\.self)) else {
                    return response
                }
                return try await write(answer)
            }
            var response = last.head
            response.timings.head = arrival.head.map { $0 - start }
            response.timings.body = arrival.head.map { clock.moment - $0 }
            return response
        }
    }

    private func observing<Response>(
        ends: Bool = true, _ exchange: () async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await exchange()
            if ends { observed?.ended(nil) }
            return response
        } catch {
            observed?.ended(error)
            throw error
        }
    }

    // MARK: The limits

    /// Runs the exchange, and fails once one of its limits has passed.
    ///
    /// A single race watches all limits; there are no separate waits between the pieces of a body.
    ///
    /// - Parameter patience: The time for which a passed limit still waits for a stale response.
    private func watched<Value: Sendable>(
        patience: @escaping @Sendable () -> Duration = { .zero },
        _ exchange: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard options.totalTimeout != nil || options.headTimeout != nil || options.readTimeout != nil else {
            return try await exchange()
        }
        return try await Race.run(by: clock, exchange) { look(patience()) }
    }

    /// Runs a step, and fails if there is no head of a response within a limit.
    ///
    /// - Parameter start: The time at which the limit starts; `nil` means now.
    private func limited(
        _ limit: Duration?, since start: Deadline? = nil,
        _ step: @escaping @Sendable () async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        guard let limit else { return try await step() }
        let left = start.map { limit - (clock.moment - $0) } ?? limit
        return try await Race.run(
            by: clock, step, within: left,
            otherwise: HTTPFailure.late("did not answer", limit: limit).error(for: request))
    }

    /// Checks whether a limit has passed; returns the time of the next check, or `nil` without a limit.
    private func look(_ patience: Duration) -> Race.Look? {
        let (head, last) = arrival.times
        var limits: [(end: Deadline, failure: HTTPFailure?)] = []
        if let total = options.totalTimeout {
            let what = head == nil ? "did not answer" : "did not answer completely"
            limits.append((start + total, .late(what, limit: total)))
        }
        if head == nil, let limit = options.headTimeout {
            limits.append((start + limit, .late("did not answer", limit: limit)))
        }
        if let read = options.readTimeout {
            if let last {
                limits.append((last + read, .late("sent none of the body", limit: read)))
            } else {
                limits.append((clock.moment + max(read, .milliseconds(100)), nil))  // it counts from the head
            }
        }
        guard let next = limits.min(by: { $0.end < $1.end }) else { return nil }
        let end = next.end + patience
        guard let failure = next.failure, end <= clock.moment else { return .again(end) }
        return .over(failure.error(for: request))
    }

    /// Returns the time at which a read of an opened body is late, and the error then.
    private func bodyLimit(since begin: Deadline) -> (end: Deadline, error: BackplaneError) {
        let total = options.totalTimeout.map { start + $0 }, read = options.readTimeout.map { begin + $0 }
        if let total, let limit = options.totalTimeout, read.map({ total <= $0 }) ?? true {
            return (total, HTTPFailure.late("did not answer completely", limit: limit).error(for: request))
        }
        let limit = options.readTimeout ?? .longest
        return (begin + limit, HTTPFailure.late("sent none of the body", limit: limit).error(for: request))
    }

    private func begin(_ response: HTTPStreamedResponse) throws {
        arrival.begin(at: clock.moment)
        meter?.begin(receiving: response.announcedLength(for: request))
        try response.requireLength(upTo: options.maximumBodySize, for: request)
    }

    private func counted(
        _ body: HTTPBodyStream, upTo limit: Int?, _ received: @escaping @Sendable (Int) -> Void
    ) -> HTTPBodyStream {
        body.tapped(piece: { piece, total in
            try Task.checkCancellation()
            if let limit, total > limit { throw HTTPFailure.tooLarge(limit: limit).error(for: request) }
            received(piece.count)
        })
    }

    // MARK: The interceptors of loads

    /// Makes the exchange; a second call of an interceptor's `next` makes it again.
    private func load(_ complete: Complete? = nil) async throws -> HTTPStreamedResponse {
        try await interception.load(request) { request in
            let options = pipeline.credentials.chosen(for: request, pipeline.withTLS(options, for: request))
            guard complete == nil, let identity = try pipeline.identity(of: request, options) else {
                return try await exchange(request, options, complete)
            }
            guard let cached = cachedExchange(request, options, identity), cached.mayFallBack else {
                return try await shared(request, options, identity)
            }
            // A server that hangs has failed as well: the limits are watched here, where a stale response may answer.
            arrival.patience = ResponseCache.limit
            defer { arrival.patience = .zero }
            do {
                return try await watched { try await shared(request, options, identity) }
            } catch let error as BackplaneError where error.code == .networkTimeout {
                return try await cached.answer(insteadOf: error)
            }
        }
    }

    // MARK: Equal requests

    /// Returns the whole response of an exchange that equal requests share.
    private func shared(
        _ request: HTTPRequest, _ options: HTTPOptions, _ identity: RequestIdentity
    ) async throws -> HTTPStreamedResponse {
        let equal = options.equalRequests ?? .standard(for: request.method), follower = follower(options)
        guard equal != .allow else {
            guard options.cache.place != nil else { return try await exchange(request, options) }
            let flight = Flight()
            flight.add(follower)
            return try await cached(request, options, identity, flight)
        }
        var own = options
        own.call = options.call?.withoutDeadline  // each sender keeps to its own
        var (response, isShared) = try await pipeline.equal.join(
            ExchangeIdentity(identity, options, isSubstituted: pipeline.isSubstituted(request, options)),
            isAlone: equal == .reject, follower, at: request.printableURL
        ) { [own] flight in
            try await cached(request, own, identity, flight)
        }
        if isShared {
            // The cookies belong to the sender that made the exchange, which also replaces a stale response.
            (response.headers["Set-Cookie"], response.isStale) = (nil, false)
            options.attempted?(HTTPAttempt(number: response.timings.attempts, status: response.status))
            observed?.shared()
            observed?.headed(response)
        }
        return response
    }

    private func follower(_ options: HTTPOptions) -> EqualExchanges.Follower {
        let ends = [options.totalTimeout.map { start + $0 }, options.call?.deadline].compactMap(\.self)
        let headEnd = options.headTimeout.map { start + $0 }
        var follower = EqualExchanges.Follower(end: ends.min(), headEnd: headEnd) { length in
            arrival.begin(at: clock.moment)
            meter?.begin(receiving: length)
            headed()
        }
        if isCounting { follower.received = received }
        follower.paused = { arrival.pause() }
        return follower
    }

    private var isCounting: Bool { meter != nil || options.received != nil || options.readTimeout != nil }

    @Sendable private func received(_ count: Int) {
        arrival.advance(to: clock.moment)
        meter?.received(count)
        options.received?(count)
    }

    // MARK: The cache

    private func cached(
        _ request: HTTPRequest, _ options: HTTPOptions, _ identity: RequestIdentity, _ flight: Flight
    ) async throws -> HTTPStreamedResponse {
        func send(_ request: HTTPRequest) async throws -> HTTPStreamedResponse {
            try await exchange(request, options, { try await whole($0, of: request, flight) }, flight)
        }
        guard let cached = cachedExchange(request, options, identity) else { return try await send(request) }
        var response = try await cached.run(send)
        response.isReceived = true
        return response
    }

    /// Returns the exchange through the cache; `nil` if the request bypasses it.
    private func cachedExchange(
        _ request: HTTPRequest, _ options: HTTPOptions, _ identity: RequestIdentity
    ) -> CachedExchange? {
        guard let place = options.cache.place, let cache = pipeline.cache, pipeline.mayCache(request, options) else {
            return nil
        }
        return CachedExchange(
            cache: cache, rules: CacheRules(options.cache, isShared: cache.isShared), place: place,
            key: CacheKey(identity, options, request, isShared: cache.isShared), request: request,
            options: options, date: pipeline.retries.date, note: { observed?.decided($0) })
    }

    private func whole(
        _ response: HTTPStreamedResponse, of request: HTTPRequest, _ flight: Flight
    ) async throws -> HTTPStreamedResponse {
        var response = response
        let limit = options.maximumBodySize ?? HTTPOptions.collectionLimit
        response.timings.head = clock.moment - start
        flight.headed(response.announcedLength(for: request))
        defer { flight.paused() }
        try response.requireLength(upTo: limit, for: request)
        let body = try await counted(response.body, upTo: limit, flight.received).collect(upTo: limit)
        (response.body, response.isReceived) = (HTTPBodyStream(body), true)
        return response
    }

    // MARK: Retries

    private func exchange(
        _ request: HTTPRequest, _ options: HTTPOptions, _ complete: Complete? = nil, _ flight: Flight? = nil
    ) async throws -> HTTPStreamedResponse {
        let send = try await sender(of: request, options)
        return try await retrying(request, options, send, complete, flight)
    }

    private func retrying(
        _ request: HTTPRequest, _ options: HTTPOptions, _ send: @escaping Send, _ complete: Complete?,
        _ flight: Flight?
    ) async throws -> HTTPStreamedResponse {
        let policy = options.retry ?? .none, retries = pipeline.retries, start = clock.moment
        var number = options.attempt
        /// Whether an attempt has reached the body; if so, later attempts have the same time limit for their heads as
        /// the first.
        var hadBody = false

        /// Returns whether there is time for an attempt after a delay, and takes it from the budget.
        func takes(after delay: Duration) -> Bool {
            let times = [options.totalTimeout, hadBody ? nil : options.headTimeout]
            let limits = times.compactMap(\.self).map { $0 - (clock.moment - start) }
            let own = limits + [options.call.flatMap(clock.timeLeft)].compactMap(\.self)
            let left = flight.map { [$0.timeLeft(at: clock.moment, hadBody: hadBody)].compactMap(\.self) } ?? own
            return left.allSatisfy { delay < $0 } && retries.budget.take(request.hostName, at: retries.elapsed)
        }
        if number > 1 {
            // The sender has rejected the last response.
            let delay = policy.backoff(after: number - 1, random: retries.random())
            guard policy.allows(request, after: number - 1), takes(after: delay) else {
                throw BackplaneError(
                    .networkNotRetried, "the policy or the budget for retries does not allow attempt \(number)",
                    at: request.printableURL)
            }
            try await clock.pause(for: delay)
        } else {
            retries.budget.requested(request.hostName, at: retries.elapsed)
        }
        while true {
            let delay: Duration, failure: BackplaneError.Code?
            do {
                let limits = [policy.attemptTimeout, hadBody ? options.headTimeout : nil]
                var response = try await attempt(request, options, send, within: limits.compactMap(\.self).min())
                options.attempted?(HTTPAttempt(number: number, status: response.status))
                let asked =
                    !policy.allows(request, after: number)
                    ? nil
                    : policy.delay(
                        after: response.status, response.headers, attempt: number, now: retries.date(),
                        random: retries.random())
                if let asked, takes(after: asked) {
                    await response.discard()
                    (delay, failure) = (asked, nil)
                } else {
                    response.timings.attempts += number - 1
                    guard let complete else { return response }
                    hadBody = true
                    return try await complete(response)
                }
            } catch let error as BackplaneError {
                options.attempted?(HTTPAttempt(number: number, error: error.code))
                let backoff = policy.backoff(after: number, random: retries.random())
                guard error.isConnectivity, policy.allows(request, after: number), takes(after: backoff) else {
                    throw error
                }
                (delay, failure) = (backoff, error.code)
            }
            observed?.retries(after: delay, failure)
            try await clock.pause(for: delay)
            number += 1
        }
    }

    private func attempt(
        _ request: HTTPRequest, _ options: HTTPOptions, _ send: @escaping Send, within limit: Duration?
    ) async throws -> HTTPStreamedResponse {
        observed?.attempted(request)
        var options = options
        options.headDeadline = headDeadline(within: limit)
        let response = try await limited(limit) { [options] in try await redirecting(request, options, send) }
        observed?.headed(response)
        if !pipeline.isSubstituted(request, options) {
            for url in CacheRules.invalidated(by: response.head, to: request) {
                // No later request is answered with a response from before the change.
                pipeline.equal.forget(url)
                await pipeline.cache?.invalidate(url)
            }
        }
        return response
    }

    /// Returns the earliest of the time limits of an attempt that begins now.
    private func headDeadline(within limit: Duration?) -> Deadline? {
        let head = arrival.head == nil ? options.headTimeout : nil
        let ends = [limit.map { clock.moment + $0 }] + [options.totalTimeout, head].map { $0.map { start + $0 } }
        return (ends + [options.call?.deadline]).compactMap(\.self).min()
    }

    // MARK: Redirects

    private func redirecting(
        _ request: HTTPRequest, _ options: HTTPOptions, _ send: Send
    ) async throws -> HTTPStreamedResponse {
        guard options.redirects > 0 else { return try await send(request, options) }
        var (request, options, send) = (request, options, send)
        var redirection = Redirection(limit: options.redirects)
        while true {
            let response = try await send(request, options)
            do {
                guard let next = try redirection.next(after: response.status, response.headers, of: request) else {
                    return redirection.located(response, request)
                }
                await response.discard()
                request = next
            } catch {
                response.body.cancel()
                throw error
            }
            if let name = options.credential, !pipeline.credentials.covers(name, request) {
                (options.credential, options.account) = (nil, nil)  // permanently, even if a redirect leads back
            }
            (options.tls, options.endpoint) = (nil, nil)  // the target has a mock of its own
            options = pipeline.withTLS(options, for: request)
            observed?.redirected(to: request)
            send = try await sender(of: request, options)
        }
    }

    // MARK: The credential, the interceptors of attempts, the limits for the host, and the executor

    private func sender(of request: HTTPRequest, _ options: HTTPOptions) async throws -> Send {
        let executor = try await pipeline.executor(for: request, options)
        let limits = pipeline.limits(for: request, options)
        let send: Send = { request, options in
            try await interception.attempt(request, hiding: options.proofFields) { request in
                try await limits.run(request, options, by: clock) {
                    let placed = pipeline.credentials.placed(request, options.credential, echoed)
                    var options = reporting(options, of: request)
                    options.tokenParameters = pipeline.credentials.tokenParameters
                    var response = try await executor.open(metered(placed, by: executor), options)
                    echoed?.take(from: &response.headers)
                    return response
                }
            }
        }
        let names = executor.capabilities.contains(.credentialNames)
        let isDelegated = names && (HTTPOrigin(request.url) == nil || !pipeline.isSubstituted(request, options))
        // A credential that is chosen further in must also exist before anything is sent.
        if isDelegated, let name = options.credential {
            _ = try pipeline.credentials.accounts(of: name).account(options.account ?? "")
        }
        let credential = isDelegated ? nil : try pipeline.credentialStage(around: send, options)
        try executor.require(request, options)
        guard let credential else { return send }
        return { request, options in try await credential.open(request, options) }
    }

    /// Returns the request with a body that counts the bytes read from it, if the executor can stream it.
    private func metered(_ request: HTTPRequest, by executor: any HTTPExecutor) -> HTTPRequest {
        guard let meter, !request.body.isEmpty, executor.capabilities.contains(.streamedUploads) else { return request }
        var request = request
        request.body = request.body.observed(opened: meter.begin(sending:), taken: meter.sent)
        return request
    }

    /// Returns the options with which an executor that does not stream the body reports the bytes that it has sent.
    private func reporting(_ options: HTTPOptions, of request: HTTPRequest) -> HTTPOptions {
        guard let meter, !request.body.isEmpty else { return options }
        var options = options
        options.sent = meter.sent(_:of:)
        return options
    }
}

extension ExchangeEvent {
    fileprivate init(_ request: HTTPRequest, _ options: HTTPOptions) {
        self.init(
            method: request.method, url: request.printableURL, component: options.sender,
            trace: options.call?.trace?.id)
        attempt = options.attempt - 1
    }
}

extension HTTPStreamedResponse {
    /// Reads the rest of a body with a short announced length, so that the connection can be reused; cancels any other.
    private func shortBody(within limit: Duration) async -> [UInt8]? {
        let body = body
        guard let length = contentLength, length <= 16 << 10 else {
            body.cancel()
            return nil
        }
        let read = try? await Race.run(
            { try await body.collect(upTo: 16 << 10) }, within: limit, otherwise: CancellationError())
        if read == nil { body.cancel() }
        return read
    }

    func discard() async { _ = await shortBody(within: .seconds(1)) }

    /// Returns the response with a short body in memory, or without a body.
    func kept() async -> HTTPStreamedResponse {
        let read = await shortBody(within: .seconds(5))
        var response = self
        response.body = HTTPBodyStream(read ?? [])
        if read == nil { response.headers["Content-Length"] = nil }
        return response
    }
}
