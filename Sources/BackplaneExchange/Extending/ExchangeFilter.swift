package import Backplane
public import BackplaneNetwork

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
