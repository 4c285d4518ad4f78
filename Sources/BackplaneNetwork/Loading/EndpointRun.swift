import Backplane
import FoundationEssentials
import Glibc
import Synchronization

/// One load of an endpoint: its attempts, up to a value or an error.
struct EndpointRun<Response: Sendable>: Sendable {
    /// The outcome of one response.
    private enum Outcome {
        case value(Response, HTTPResponse)
        /// Another attempt may help; if there is none, this is the error.
        case again(any Error)
    }
    private let endpoint: Endpoint<Response>
    private let http: HTTPClient
    private let call: Call
    private let progress: (@Sendable (HTTPProgress) -> Void)?
    private let start = ContinuousClock.now

    init(
        _ endpoint: Endpoint<Response>, on http: HTTPClient, _ call: Call,
        _ progress: (@Sendable (HTTPProgress) -> Void)?
    ) {
        (self.endpoint, self.http, self.call, self.progress) = (endpoint, http, call, progress)
    }

    /// A Boolean value that indicates whether the load's time limit has passed.
    private var isOver: Bool { endpoint.timeout.map { .now - start >= $0 } ?? false }

    /// Returns an error, or that of the load's time limit instead of the one of what was left for an attempt.
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

    /// Returns the value, and the response without its body.
    func run() async throws -> (value: Response, response: HTTPResponse) {
        try Task.checkCancellation()
        let request = try endpoint.request(http.defaults)
        var attempt = 1, rejection: (any Error)?
        while true {
            let outcome: Outcome
            do {
                outcome = try await self.attempt(request, &attempt)
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

    /// Makes an exchange, with the attempts that the pipeline makes of it, and receives the response.
    ///
    /// - Parameter attempt: The number of the first attempt, and afterwards of the last one.
    private func attempt(_ request: HTTPRequest, _ attempt: inout Int) async throws -> Outcome {
        let options = options(from: attempt)
        switch endpoint.receipt {
        case .parsed(let parse):
            let exchange = (http.defaults.interceptors + endpoint.interceptors).around { [http, call] request in
                try await http.way.open(request, call, options)
            }
            let response = try await exchange(request)
            attempt = max(attempt, response.timings.attempts)
            return try await receive(response, of: request, parse)
        case .file(let path, let made):
            let file = FileInProgress(http.way.file(path))
            defer { file.remove() }
            let exchange = (http.defaults.interceptors + endpoint.interceptors).around { [http, call] request in
                let response = HTTPStreamedResponse(
                    try await http.way.download(request, to: file.temporary, call, options))
                file.isWritten.store(true, ordering: .releasing)
                return response
            }
            let response = try await exchange(request)
            attempt = max(attempt, response.timings.attempts)
            return try await receive(response, of: request, in: file, made)
        }
    }

    private func options(from attempt: Int) -> HTTPOptions {
        var options = endpoint.options
        options.totalTimeout =
            endpoint.timeout.map { Swift.max($0 - (.now - start), .nanoseconds(1)) } ?? options.totalTimeout
        options.redirects = endpoint.redirects
        options.retry = retry.attempts > 1 ? retry : nil
        options.attempt = attempt
        options.progress = progress ?? options.progress
        return options
    }

    private func receive(
        _ response: HTTPStreamedResponse, of request: HTTPRequest,
        _ parse: (HTTPResponse, any ResponseDecoder) throws -> Response
    ) async throws -> Outcome {
        try await requireValid(response, request)
        var whole: HTTPResponse
        do {
            whole = try await response.collect(
                upTo: endpoint.options.bounded.maximumBodySize ?? HTTPOptions.collectionLimit)
        } catch let error as BackplaneError {
            if retry.mayHelp(after: error) { return .again(error) }
            throw error
        }
        let value: Response
        do { value = try parse(whole, decoder) } catch {
            throw BackplaneError.unparsable(whole, request, error, keeping: keptLimit)
        }
        whole.body = []
        return try judged(value, whole, request)
    }

    private func receive(
        _ response: HTTPStreamedResponse, of request: HTTPRequest, in file: FileInProgress,
        _ made: (DownloadedFile) -> Response
    ) async throws -> Outcome {
        try await requireValid(response, request, file.isWritten.load(ordering: .acquiring) ? file.temporary : nil)
        var head = HTTPResponse(status: response.status, headers: response.headers, trailers: response.trailers)
        head.timings = response.timings
        // An interceptor has answered without the network.
        if !file.isWritten.load(ordering: .acquiring) { head = try await response.write(to: file.temporary) }
        let value = made(DownloadedFile(path: file.path, size: try file.size()))
        let outcome = try judged(value, head, request)
        if case .value = outcome { try file.finish() }
        return outcome
    }

    /// Requires a valid status.
    ///
    /// - Parameter file: The path of the file that has the body; `nil` if it is still to be read.
    private func requireValid(
        _ response: HTTPStreamedResponse, _ request: HTTPRequest, _ file: String? = nil
    ) async throws {
        guard let valid = endpoint.validStatuses, !valid.contains(response.status) else { return }
        let limit = keptLimit
        let body =
            if let file { KeptBody(ofFile: file, upTo: limit) } else { await KeptBody(of: response.body, upTo: limit) }
        try Task.checkCancellation()
        let said = body.isWhole ? try? (endpoint.failure ?? http.defaults.failure)?.decode(body.bytes, decoder) : nil
        throw BackplaneError.status(response, valid: valid, request, body, said)
    }

    /// The greatest number of bytes of a failed response that are kept.
    private var keptLimit: Int { Swift.min(Swift.max(0, endpoint.failureLimit), HTTPOptions.collectionLimit) }

    private var decoder: any ResponseDecoder {
        endpoint.decoder ?? endpoint.typeDecoder ?? http.defaults.decoder ?? JSONDecoder.unchanged
    }

    private func judged(_ value: Response, _ response: HTTPResponse, _ request: HTTPRequest) throws -> Outcome {
        func rejected(_ reason: String) -> BackplaneError {
            BackplaneError(
                .networkRejected, "the response was rejected: \(reason)", at: request.printableURL,
                failure: .http(response.status))
        }
        switch try endpoint.verdict?(value, response) ?? .accept {
        case .accept: return .value(value, response)
        case .reject(let reason): throw rejected(reason)
        case .retry(let reason): return .again(rejected(reason))
        }
    }
}

/// A file beside its place, where a load writes it before it is found valid.
private final class FileInProgress: Sendable {
    let path: String
    /// The path while the file is not valid yet: one that the next process removes if this one is killed.
    let temporary: String
    let isWritten = Atomic(false)

    init(_ path: String) {
        self.path = path
        temporary = IncomingFile.judged(beside: path)
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
            .networkFile, "the downloaded file cannot be put in its place: \(String(cString: strerror(errno)))",
            at: path)
    }
}
