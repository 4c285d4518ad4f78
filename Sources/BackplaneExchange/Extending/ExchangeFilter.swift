package import Backplane
public import BackplaneNetwork
import Synchronization

/// A filter of exchanges, which changes the heads of requests or adds fields to the heads of attempts.
///
/// ```swift
/// let signer = ExchangeFilter(
///     "signer", hosts: ["books.example.org"], digests: true, attempts: { head in ["Signature": signature(head)] })
/// let network = HTTPPipeline([executor], filters: [signer])
/// ```
///
/// A filter of requests runs once for each exchange, before retries and redirects. A filter of attempts runs for each
/// attempt and each redirect, and may only add fields that do not vary the response. If a filter throws an error, the
/// exchange fails before anything is sent.
public struct ExchangeFilter: Sendable {
    /// A filter that is prepared for one exchange.
    package struct Ready: Sendable {
        var interests: FilterInterests
        var request: @Sendable (FilteredRequest) async throws -> FilteredRequest
        var attempt: @Sendable (FilteredRequest) async throws -> HTTPHeaders

        package init(
            _ interests: FilterInterests,
            request: @escaping @Sendable (FilteredRequest) async throws -> FilteredRequest,
            attempt: @escaping @Sendable (FilteredRequest) async throws -> HTTPHeaders
        ) {
            (self.interests, self.request, self.attempt) = (interests, request, attempt)
        }
    }
    /// The name in errors.
    let name: String
    /// The names of the hosts, in lower case; empty for every host.
    private let hosts: Set<String>
    let ready: @Sendable (Call) async throws -> Ready

    /// Creates a filter that runs once for each exchange, and may change its head.
    ///
    /// - Parameters:
    ///   - name: The name used in errors.
    ///   - hosts: The names of the hosts whose requests are filtered; empty for every host.
    ///   - digests: A Boolean value that indicates whether the filter receives the digest of the body.
    ///   - request: A function that returns the head to send.
    public init(
        _ name: String, hosts: Set<String> = [], digests: Bool = false,
        requests request: @escaping @Sendable (FilteredRequest) async throws -> FilteredRequest
    ) {
        let ready = Ready(digests ? [.requests, .digest] : .requests, request: request, attempt: { _ in [:] })
        self.init(name, hosts: hosts, ready: { _ in ready })
    }

    /// Creates a filter that runs for each attempt, and may add header fields.
    ///
    /// - Parameters:
    ///   - name: The name used in errors.
    ///   - hosts: The names of the hosts whose attempts are filtered; empty for every host.
    ///   - digests: A Boolean value that indicates whether the filter receives the digest of the body.
    ///   - attempt: A function that returns the fields to add.
    public init(
        _ name: String, hosts: Set<String> = [], digests: Bool = false,
        attempts attempt: @escaping @Sendable (FilteredRequest) async throws -> HTTPHeaders
    ) {
        let ready = Ready(digests ? [.attempts, .digest] : .attempts, request: { $0 }, attempt: attempt)
        self.init(name, hosts: hosts, ready: { _ in ready })
    }

    package init(_ name: String, hosts: Set<String>, ready: @escaping @Sendable (Call) async throws -> Ready) {
        (self.name, self.ready) = (name, ready)
        self.hosts = Set(hosts.map(\.hostKey))
    }

    func applies(to request: HTTPRequest) -> Bool { hosts.isEmpty || hosts.contains(request.hostName) }
}

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

/// The stage that runs the filters of attempts, next to the executor.
struct FilterStage: PipelineStage {
    let next: any HTTPExecutor
    let filters: FilterRun

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await next.open(try await filters.attempt(request, hiding: options.proofFields), options)
    }
}

/// The rules for the fields that a filter adds to an attempt, which may neither vary the response nor replace other
/// fields.
enum AddedFields {
    /// Adds fields to a head.
    ///
    /// - Throws: `network.refused` for a field that the head already has, or that must not be added.
    static func add(_ fields: HTTPHeaders, to headers: inout HTTPHeaders) throws(BackplaneError) {
        let own = headers
        for field in fields.fields {
            guard own[field.name] == nil else {
                throw refused("it adds the field `\(field.name)`, which the request already has")
            }
            guard isHarmless(field.name.lowercased()) else {
                throw refused(
                    "it adds the field `\(field.name)` to an attempt, which would change the response; set it in `request`"
                )
            }
            headers.add(field.name, field.value)
        }
    }

    /// Adds credential fields to a head: any except those of the request and those that frame the message.
    ///
    /// - Throws: `network.refused` for a field that the head already has, or that must not be added.
    static func add(proof fields: HTTPHeaders, to headers: inout HTTPHeaders) throws(BackplaneError) {
        let own = headers
        for field in fields.fields {
            guard own[field.name] == nil else {
                throw refused("its proof has the field `\(field.name)`, which the request already has")
            }
            guard !framing.contains(field.name.lowercased()) else {
                throw refused(
                    "its proof has the field `\(field.name)`, which belongs to the exchange and not to a proof")
            }
            headers.add(field.name, field.value)
        }
    }

    private static func isHarmless(_ name: String) -> Bool {
        !names.contains(name) && !prefixes.contains(where: name.hasPrefix)
    }

    /// The names of fields that select a response, are credentials, or frame the message (RFC 9110, sections 6 to 14).
    private static let names: Set<String> = [
        "accept", "authorization", "cache-control", "connection", "content-encoding", "content-language",
        "content-length", "content-location", "content-range", "content-type", "cookie", "expect", "host", "keep-alive",
        "max-forwards", "pragma", "prefer", "proxy-authorization", "range", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    /// The names of fields that frame the message or are sent by an account's cookie jar.
    private static let framing: Set<String> = [
        "connection", "content-length", "cookie", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    private static let prefixes = ["accept-", "if-"]

    private static func refused(_ why: String) -> BackplaneError { BackplaneError(.networkRefused, why) }
}
