import Backplane
import FoundationEssentials
import Glibc
import Synchronization

/// One load of an endpoint: its attempts, up to a value or an error.
struct EndpointRun<Response: Sendable>: Sendable {
    private enum Outcome {
        case value(Response, HTTPResponse)
        /// Another attempt may help; if there is none, the result is this error.
        case again(any Error)
    }
    private let endpoint: Endpoint<Response>
    private let http: HTTPClient
    private let call: Call
    private let progress: (@Sendable (HTTPProgress) -> Void)?
    private let start: Deadline
    private let log: LoadLog?
    private let number: UInt64
    /// A Boolean value that indicates whether the load replaces a stale response in a cache.
    private let refreshes: Bool
    private let observers: [@Sendable (ExchangeEvent) -> Void]
    private let interceptors: [HTTPInterceptor]

    init(
        _ endpoint: Endpoint<Response>, on http: HTTPClient, _ call: Call,
        _ progress: (@Sendable (HTTPProgress) -> Void)?, number: UInt64 = .random(in: 1..<(1 << 53)),
        refreshes: Bool = false
    ) {
        (self.number, self.refreshes) = (number, refreshes)
        (self.endpoint, self.http, self.call, self.progress) = (endpoint, http, call, progress)
        start = http.way.clock.moment
        log = LoadLog(endpoint.logLevel ?? http.defaults.logLevel, call, http.defaults.log ?? http.way.log) {
            try? endpoint.request(http.defaults).curlDescription
        }
        observers = http.defaults.observers + endpoint.observers
        interceptors = http.defaults.interceptors + endpoint.interceptors
    }

    private var isOver: Bool { endpoint.timeout.map { http.way.clock.moment - start >= $0 } ?? false }

    /// Returns an error, or the load's timeout error if an attempt exceeded its share of the remaining time.
    private func timely(_ error: any Error, _ request: HTTPRequest, after rejection: (any Error)?) -> any Error {
        guard let timeout = endpoint.timeout, isOver, let error = error as? BackplaneError,
            error.code == .networkTimeout
        else { return error }
        let cause = rejection.map(BackplaneError.init(thrown:)) ?? error
        return BackplaneError(
            .networkTimeout, "the load did not end within \(timeout), its time limit: \(cause.message)",
            at: request.printableURL)
    }

    private var retry: RetryPolicy { endpoint.retry ?? http.defaults.retry ?? .none }

    func run() async throws(BackplaneError) -> (value: Response, response: HTTPResponse) {
        if let remembered { return remembered }
        let observed = ObservedExchange(
            endpoint.event(number, http.defaults, call), observers + (log.map { [$0.note] } ?? []), http.way.clock)
        do {
            try Task.checkCancellation()
            let result = try await run(try endpoint.request(http.defaults), observed)
            observed?.ended(nil)
            return result
        } catch {
            observed?.ended(error)
            throw BackplaneError(thrown: error)
        }
    }

    /// The value of a fresh response in memory, without an exchange; `nil` if there is none, or it is not accepted.
    private var remembered: (value: Response, response: HTTPResponse)? {
        guard endpoint.options.cache.place == .memory, !refreshes, observers.isEmpty, log == nil,
            interceptors.isEmpty, !Task.isCancelled, let request = try? endpoint.request(http.defaults),
            let found = http.way.remembered(request, call, options(of: request, from: 1, nil)),
            found.size <= endpoint.options.bounded.maximumBodySize ?? HTTPOptions.collectionLimit,
            endpoint.validStatuses?.contains(found.response.status) ?? true,
            let value = try? value(of: found), case .value = try? judged(value, found.response, request)
        else { return nil }
        return (value, found.response)
    }

    private func value(of found: RememberedResponse) throws -> Response? {
        switch endpoint.receipt {
        case .decoded(let parse), .parsed(let parse): try value(of: found.whole, sharing: found.decoded, parse)
        case .file: nil
        }
    }

    private func run(
        _ request: HTTPRequest, _ observed: ObservedExchange?
    ) async throws -> (value: Response, response: HTTPResponse) {
        var attempt = 1, rejection: (any Error)?
        while true {
            let outcome: Outcome
            do {
                outcome = try await self.attempt(request, &attempt, observed)
            } catch let error as BackplaneError {
                throw error.code == .networkNotRetried ? rejection ?? error : timely(error, request, after: rejection)
            }
            switch outcome {
            case .value(let value, let response): return (value, response)
            case .again(let error):
                guard !isOver else { throw timely(error, request, after: rejection) }
                guard retry.allows(request, after: attempt) else { throw error }
                (rejection, attempt) = (error, attempt + 1)
            }
        }
    }

    /// Makes an exchange, including the attempts of the pipeline, and receives the response.
    ///
    /// - Parameter attempt: The number of the first attempt; set to the number of the last attempt.
    private func attempt(
        _ request: HTTPRequest, _ attempt: inout Int, _ observed: ObservedExchange?
    ) async throws -> Outcome {
        var options = options(of: request, from: attempt, observed)
        options.endpoint = endpoint.title
        switch endpoint.receipt {
        case .parsed(let parse), .decoded(let parse):
            let response = try await whole(request, options, refreshes: refreshes)
            attempt = max(attempt, response.timings.attempts)
            observed?.loaded(response)
            if response.isStale { refresh() }
            do {
                let outcome = try await receive(response, of: request, parse)
                guard response.isFromCache, case .again = outcome else { return outcome }
            } catch let error as BackplaneError {
                guard response.isFromCache else { throw error }
            }
            // Another endpoint has accepted the stored response, but this one has not.
            return try await receive(try await whole(request, options, refreshes: true), of: request, parse)
        case .file(let path, let made):
            let file = FileInProgress(http.way.file(path))
            defer { file.remove() }
            let exchange = interceptors.around { [http, call, options] request in
                let response = HTTPStreamedResponse(
                    try await file.naming { try await http.way.download(request, to: file.temporary, call, options) })
                file.body = response.body
                return response
            }
            let response = try await exchange(request)
            attempt = max(attempt, response.timings.attempts)
            observed?.loaded(response)
            return try await receive(response, of: request, in: file, made)
        }
    }

    /// Makes an exchange whose response is loaded whole.
    private func whole(
        _ request: HTTPRequest, _ options: HTTPOptions, refreshes: Bool
    ) async throws -> HTTPStreamedResponse {
        var options = self.refreshes ? options.refreshing : options
        (options.isWhole, options.refreshes) = (true, refreshes)
        options.maximumBodySize = options.maximumBodySize ?? HTTPOptions.collectionLimit
        let exchange = interceptors.around { [http, call, options] request in
            try await http.way.open(request, call, options)
        }
        return try await exchange(request)
    }

    /// Starts another load, whose accepted response replaces a stale one for the next load.
    private func refresh() {
        let run = EndpointRun(endpoint, on: http, call.withoutDeadline, nil, refreshes: true)
        Task { _ = try? await run.run() }  // it is refused if another one is in flight
    }

    private func options(of request: HTTPRequest, from attempt: Int, _ observed: ObservedExchange?) -> HTTPOptions {
        var options = endpoint.exchangeOptions(http.defaults, for: request)
        options.totalTimeout =
            endpoint.timeout.map { Swift.max($0 - (http.way.clock.moment - start), .nanoseconds(1)) }
            ?? options.totalTimeout
        options.endpoint = endpoint.name
        options.retry = retry.attempts > 1 ? retry : nil
        options.attempt = attempt
        options.progress = progress ?? options.progress
        guard let observed else { return options }
        options.attempted = { [own = options.attempted] attempt in
            own?(attempt)
            observed.attempted(attempt)
        }
        if !observers.isEmpty {  // a log has no progress
            options.progress = { [own = options.progress] progress in
                own?(progress)
                observed.progressed(progress)
            }
        }
        return options
    }

    private func receive(
        _ response: HTTPStreamedResponse, of request: HTTPRequest,
        _ parse: (HTTPResponse, any ResponseDecoder) throws -> Response
    ) async throws -> Outcome {
        try await endpoint.requireValid(response, request, http.defaults)
        var whole: HTTPResponse
        do {
            whole = try await response.collect(
                upTo: endpoint.options.bounded.maximumBodySize ?? HTTPOptions.collectionLimit)
        } catch let error as BackplaneError {
            if error.isConnectivity { return .again(error) }
            throw error
        }
        let value: Response
        do { value = try self.value(of: whole, sharing: response.body.decoded, parse) } catch {
            throw BackplaneError.unparsable(whole, request, error, keeping: endpoint.keptLimit)
        }
        whole.body = []
        return try judged(value, whole, request)
    }

    /// Returns the value of a response, which another load with the same body may have decoded.
    private func value(
        of response: @autoclosure () -> HTTPResponse, sharing decoded: DecodedValue?,
        _ parse: (HTTPResponse, any ResponseDecoder) throws -> Response
    ) throws -> Response {
        let decoder = endpoint.responseDecoder(http.defaults)
        guard case .decoded = endpoint.receipt, let decoded else { return try parse(response(), decoder) }
        return try decoded.value(by: decoder) { try parse(response(), decoder) }
    }

    private func receive(
        _ response: HTTPStreamedResponse, of request: HTTPRequest, in file: FileInProgress,
        _ made: (DownloadedFile) -> Response
    ) async throws -> Outcome {
        let isFile = file.isBody(of: response)
        try await endpoint.requireValid(response, request, http.defaults, in: isFile ? file.temporary : nil)
        var head = response.head
        if !isFile, let answer = try await response.answer(insteadOf: file.body) {
            head = try await file.naming { try await answer.write(to: file.temporary) }
        }
        let value = made(DownloadedFile(path: file.path, size: try file.size()))
        let outcome = try judged(value, head, request)
        if case .value = outcome { try file.finish() }
        return outcome
    }

    private func judged(_ value: Response, _ response: HTTPResponse, _ request: HTTPRequest) throws -> Outcome {
        func rejected(_ reason: String) -> BackplaneError {
            BackplaneError(
                .networkRejected, "the response was rejected: \(reason)", at: request.printableURL,
                failure: .http(response.status))
        }
        let verdict: EndpointVerdict
        do {
            verdict = try endpoint.verdict?(value, response) ?? .accept
        } catch let error as CancellationError {
            throw error
        } catch {
            throw rejected(BackplaneError.explanation(error))
        }
        switch verdict {
        case .accept:
            response.acceptance?.accept()
            return .value(value, response)
        case .reject(let reason): throw rejected(reason)
        case .retry(let reason): return .again(rejected(reason))
        }
    }
}

/// A file next to its destination, which a load writes before the response is validated.
private final class FileInProgress: Sendable {
    let path: String
    /// The path while the file is not valid yet; a file left by a killed process is removed before a later download.
    let temporary: String
    /// The body of the last response that was written to the file.
    private let written = Mutex<HTTPBodyStream?>(nil)

    init(_ path: String) {
        self.path = path
        temporary = IncomingFile.judged(beside: path)
    }

    /// Performs a function, whose errors about the temporary file become errors about the destination.
    func naming<Response>(_ write: () async throws -> Response) async throws -> Response {
        do {
            return try await write()
        } catch let error as BackplaneError where error.location == temporary {
            var named = error
            named.location = path
            throw named
        }
    }

    var body: HTTPBodyStream? {
        get { written.withLock(\.self) }
        set { written.withLock { $0 = newValue } }
    }

    func isBody(of response: HTTPStreamedResponse) -> Bool {
        body?.isSame(as: response.body) ?? false
    }

    func size() throws -> Int64 {
        var status = stat()
        guard stat(temporary, &status) == 0 else { throw unusable }
        return Int64(status.st_size)
    }

    func finish() throws { guard rename(temporary, path) == 0 else { throw unusable } }

    func remove() { unlink(temporary) }

    private var unusable: BackplaneError {
        BackplaneError(
            .networkFile, "the downloaded file cannot be moved to its destination: \(String(cString: strerror(errno)))",
            at: path)
    }
}

extension Endpoint {
    func requireValid(
        _ response: HTTPStreamedResponse, _ request: HTTPRequest, _ defaults: EndpointDefaults, in file: String? = nil
    ) async throws {
        guard let valid = validStatuses, !valid.contains(response.status) else { return }
        let limit = keptLimit
        let body =
            if let file { KeptBody(ofFile: file, upTo: limit) } else { await KeptBody(of: response.body, upTo: limit) }
        try Task.checkCancellation()
        let type = response.headers["Content-Type"]?.prefix { $0 != ";" }.lowercased()
        let problem = type == "application/problem+json" ? HTTPProblem.failure : nil
        let said =
            body.isWhole
            ? try? (failure ?? defaults.failure ?? problem)?.decode(body.bytes, responseDecoder(defaults)) : nil
        let credential = response.status == 401 ? defaults.completed(options, for: request).credential : nil
        throw BackplaneError.status(response, valid: valid, request, body, said, credential: credential)
    }

    var keptLimit: Int { Swift.min(Swift.max(0, failureLimit), HTTPOptions.collectionLimit) }

    func responseDecoder(_ defaults: EndpointDefaults) -> any ResponseDecoder {
        decoder ?? (Response.self as? any DecodedResponse.Type)?.decoder ?? defaults.decoder ?? JSONDecoder.unchanged
    }
}

/// The beginning of the body of a failed response.
struct KeptBody {
    private(set) var bytes: [UInt8] = []
    private(set) var isWhole = false

    /// Reads the beginning of a streamed body for at most five seconds; an early end is not an error.
    init(of body: HTTPBodyStream, upTo limit: Int) async {
        defer { if !isWhole { body.cancel() } }
        guard limit > 0 else { return }
        let taken = Mutex<[UInt8]>([])
        let isRead = try? await Race.run(
            {
                for try await chunk in body {
                    let count = taken.withLock { taken in
                        taken += chunk.prefix(limit - taken.count + 1)
                        return taken.count
                    }
                    if count > limit { return false }
                }
                return true
            }, within: .seconds(5), otherwise: CancellationError())
        isWhole = isRead ?? false
        bytes = Array(taken.withLock { $0 }.prefix(limit))
    }

    init(ofFile path: String, upTo limit: Int) {
        guard limit > 0 else { return }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, limit))
        }
        isWhole = lseek(file, 0, SEEK_END) == bytes.count
    }

    init(_ body: [UInt8], upTo limit: Int) {
        (bytes, isWhole) = (Array(body.prefix(max(0, limit))), body.count <= limit)
    }
}
