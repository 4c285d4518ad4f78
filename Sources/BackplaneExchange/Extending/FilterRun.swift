import Backplane
import BackplaneNetwork
import Synchronization

/// The filters of one exchange, which run in order, each for its hosts.
final class FilterRun: Sendable {
    private let filters: [ExchangeFilter]
    private let call: Call
    /// A Boolean value that indicates whether a credential adds fields, which are hidden from the filters of attempts.
    private let hidesProof: Bool
    /// The digest of the body, once a filter has requested it; retries send the same body, and redirects may send none.
    private let known = Mutex<String?>(nil)

    /// Creates the run of an exchange's filters; `nil` if there are none.
    init?(_ filters: [ExchangeFilter], _ options: HTTPOptions) {
        guard !filters.isEmpty else { return nil }
        (self.filters, call) = (filters, options.call ?? Call())
        hidesProof = options.credential != nil
    }

    /// Returns the request with the head that the request filters return.
    ///
    /// - Throws: `network.refused` if a filter fails; `CancellationError` and network errors of filters unchanged.
    func request(_ request: HTTPRequest) async throws -> HTTPRequest {
        try await reduce(request, .requests) { filter, head, request in
            let filtered = try await filter.request(head)
            (request.method, request.url) = (filtered.method, filtered.url)
            request.headers = try HTTPHeaders(pairs: filtered.headers)
        }
    }

    /// Returns the request with the fields that the attempt filters add.
    ///
    /// - Throws: The errors of ``request(_:)``; `network.refused` for a field that must not be added.
    ///
    /// - Parameter proof: The names of the fields that authenticate the sender of the request.
    func attempt(_ request: HTTPRequest, hiding proof: [String]) async throws -> HTTPRequest {
        try await reduce(request, .attempts, hiding: proof) { filter, head, request in
            try AddedFields.add(try await filter.attempt(head), to: &request.headers)
        }
    }

    private func reduce(
        _ request: HTTPRequest, _ part: FilterInterests, hiding proof: [String] = [],
        _ apply: (ExchangeFilter.Ready, FilteredRequest, inout HTTPRequest) async throws -> Void
    ) async throws -> HTTPRequest {
        var request = request
        for filter in filters where filter.applies(to: request) {
            do {
                let ready = try await filter.ready(call)
                guard ready.interests.contains(part) else { continue }
                let digest = ready.interests.contains(.digest) ? try await digest(of: request.body) : nil
                let shown = hidesProof && part == .attempts ? request.without(proof) : request
                try await apply(ready, FilteredRequest(shown, digest: digest), &request)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw BackplaneError(thrown: error).ofFilter(filter.name, at: request.printableURL)
            }
        }
        return request
    }

    private func digest(of body: HTTPBody) async throws -> String {
        if !body.isEmpty, let known = known.withLock({ $0 }) { return known }
        let text = try await body.digestText()
        if !body.isEmpty { known.withLock { $0 = text } }
        return text
    }
}

extension HTTPBody {
    /// Returns the SHA-256 of the body in lower-case hexadecimal digits.
    ///
    /// - Throws: `network.body` for a body that can be read only once.
    func digestText() async throws -> String {
        guard isEmpty || isReplayable else { throw BackplaneError.digestOfStream }
        return ContentDigest.sha256(of: try await collected(upTo: HTTPOptions.collectionLimit).bytes ?? []).hexadecimal
    }
}

extension HTTPRequest {
    /// Returns the request without the fields that a credential adds.
    fileprivate func without(_ proof: [String]) -> HTTPRequest {
        var request = self
        for name in ["Authorization", "Cookie"] + proof where Redaction.proofs.hides(headers[name] ?? "") {
            request.headers[name] = nil
        }
        return request
    }
}

extension BackplaneError {
    /// The error for a body that would have to be digested before it is sent.
    static var digestOfStream: BackplaneError {
        BackplaneError(.networkBody, "a filter needs the digest of the body, but the body can be read only once")
    }

    /// Returns the error of an exchange for an error of a filter.
    fileprivate func ofFilter(_ name: String, at url: String) -> BackplaneError {
        if [.callCancelled, .callDeadline].contains(code) { return self }
        if code.rawValue.hasPrefix("network.") {
            var error = self
            (error.message, error.location) = ("the filter `\(name)`: \(message)", location ?? url)
            return error
        }
        return BackplaneError(.networkRefused, "the filter `\(name)` failed: \(message)", at: url, causes: [self])
    }
}
