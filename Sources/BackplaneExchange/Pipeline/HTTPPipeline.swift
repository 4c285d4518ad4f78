package import Backplane
public import BackplaneNetwork
import Synchronization

/// The stages of every exchange of a host or a program: limits, interceptors, retries, redirects, credentials,
/// executors.
///
/// ```swift
/// let network = HTTPPipeline([AsyncHTTPClientExecutor()])
/// let response = try await network.send(HTTPRequest("GET", "https://books.example.org/whale"))
/// ```
public struct HTTPPipeline: Sendable {
    /// A function that returns the current executor at the start of an exchange, given the exchange's call.
    package typealias Connect = @Sendable (Call) async throws -> any HTTPExecutor
    private let executors: [any HTTPExecutor]
    private let tls: [String: TLSSettings]
    /// The executors that options choose by name; plugins' executors also serve the URL scheme with that name.
    private let named: [String: Connect]
    /// The names of the executors to which the exchanges belong, and which the exchanges therefore must not use.
    private let reserved: Set<String>
    /// The owner of the names, as errors state it.
    private let registry: String
    let retries: Retries
    var clock: any DeadlineClock { retries.clock }
    package let credentials: Credentials
    /// The error of every exchange if exchanges cannot be made; otherwise `nil`.
    private let refusal: BackplaneError?
    let interceptors: [HTTPInterceptor]
    let observers: @Sendable () -> [@Sendable (ExchangeEvent) -> Void]
    private let mocks: Mocks
    private let cassette: Cassette?
    private let swept: SweptFolders?
    package let cache: ResponseCache?
    let equal: EqualExchanges
    private let limits: NetworkLimits

    /// Creates a pipeline; if there are several executors for one scheme, the first is used.
    ///
    /// - Parameters:
    ///   - executors: The executors.
    ///   - tls: The TLS settings of hosts, by host name in lower case. A name of the form `*.example.org` applies to
    ///     all names with one label in place of the asterisk, unless they have their own settings.
    ///   - retries: The budgets of retries, and the clock of exchanges.
    ///   - credentials: The credentials that requests may choose.
    ///   - interceptors: The interceptors of all exchanges but requests for tokens, with the first one outermost.
    ///   - observers: The observers of all exchanges, which are called by the exchanges and must not block.
    ///   - cache: The cache for requests whose options have a policy; `nil` for none.
    ///   - limits: The limits for the hosts of requests.
    ///   - mocks: The mocks that answer exchanges; `nil` for none.
    ///   - cassette: The cassette to which exchanges are recorded, or which is replayed; `nil` for none.
    public init(
        _ executors: [any HTTPExecutor], tls: [String: TLSSettings] = [:], retries: Retries = Retries(),
        credentials: Credentials = Credentials(), interceptors: [HTTPInterceptor] = [],
        observers: [@Sendable (ExchangeEvent) -> Void] = [], cache: ResponseCache? = ResponseCache(),
        limits: NetworkLimits = NetworkLimits(), mocks: Mocks? = nil, cassette: Cassette? = nil
    ) {
        self.init(
            executors, tls: tls, named: [:], registry: "this pipeline", retries: retries, credentials: credentials,
            interceptors: interceptors, observers: { observers }, swept: SweptFolders(),
            cache: cache, limits: limits, mocks: mocks ?? .none, cassette: cassette)
    }

    /// Creates a pipeline with named executors, which requests choose with `HTTPOptions.executor`.
    ///
    /// ```swift
    /// let network = HTTPPipeline(["default": AsyncHTTPClientExecutor(), "session": URLSessionExecutor()])
    /// ```
    ///
    /// A request without a name uses the first executor for its scheme.
    public init(
        _ executors: KeyValuePairs<String, any HTTPExecutor>, tls: [String: TLSSettings] = [:],
        retries: Retries = Retries(), credentials: Credentials = Credentials(), interceptors: [HTTPInterceptor] = [],
        observers: [@Sendable (ExchangeEvent) -> Void] = [], cache: ResponseCache? = ResponseCache(),
        limits: NetworkLimits = NetworkLimits(), mocks: Mocks? = nil, cassette: Cassette? = nil
    ) {
        let named = Dictionary(executors.map { name, executor in (name, { @Sendable _ in executor } as Connect) }) {
            first, _ in first
        }
        self.init(
            executors.map(\.value), tls: tls, named: named, registry: "this pipeline", retries: retries,
            credentials: credentials, interceptors: interceptors, observers: { observers }, swept: SweptFolders(),
            cache: cache, limits: limits, mocks: mocks ?? .none, cassette: cassette)
    }

    /// - Parameter swept: The folders of downloads of a program; `nil` in a host.
    package init(
        _ executors: [any HTTPExecutor], tls: [String: TLSSettings], named: [String: Connect],
        reserved: Set<String> = [], registry: String, retries: Retries, credentials: Credentials,
        interceptors: [HTTPInterceptor], observers: @escaping @Sendable () -> [@Sendable (ExchangeEvent) -> Void],
        refusal: BackplaneError? = nil, swept: SweptFolders? = nil, cache: ResponseCache? = nil,
        equal: EqualExchanges = EqualExchanges(), limits: NetworkLimits = NetworkLimits(), mocks: Mocks = .none,
        cassette: Cassette? = nil
    ) {
        (self.executors, self.named, self.reserved, self.registry) = (executors, named, reserved, registry)
        self.tls = tls.byHostKey
        (self.retries, self.credentials, self.refusal) = (retries, credentials, refusal)
        (self.interceptors, self.observers, self.swept) = (interceptors, observers, swept)
        (self.cache, self.equal, self.limits) = (cache, equal, limits)
        (self.mocks, self.cassette) = (mocks, cassette)
    }

    /// Sends a request and returns the response with its body in memory, regardless of its status.
    ///
    /// - Throws: The errors of ``open(_:_:)``; `network.too-large` if the body has more than `limit` bytes.
    public func send(
        _ request: HTTPRequest, upTo limit: Int = HTTPOptions.collectionLimit, _ options: HTTPOptions = HTTPOptions()
    ) async throws -> HTTPResponse {
        try await send(request, upTo: limit, options) {}
    }

    package func send(
        _ request: HTTPRequest, upTo limit: Int, _ options: HTTPOptions, headed: @escaping @Sendable () -> Void
    ) async throws -> HTTPResponse {
        var options = options
        options.maximumBodySize = Swift.min(limit, options.maximumBodySize ?? limit)
        options.isWhole = true
        let response = try await begin(request, options).whole(upTo: limit, headed: headed)
        response.acceptance?.accept()
        if response.isStale {
            let later = options.refreshing
            Task { _ = try? await send(request, upTo: limit, later) {} }
        }
        return response
    }

    /// Sends a request, and returns once the head of the response has arrived, regardless of its status.
    ///
    /// - Throws: `network.refused` if no executor serves the URL, or none has the name; `network.unsupported` if the
    ///   executor lacks a capability that the request needs, before anything is sent; `network.timeout`;
    ///   `network.body`; `network.failed` and other codes of the network; `CancellationError`.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions = HTTPOptions()) async throws
        -> HTTPStreamedResponse
    {
        try await begin(request, options).opened()
    }

    /// Sends a request, and writes the response's body to a file, which appears once it is complete.
    ///
    /// The file replaces an existing one, and only its owner may read it.
    ///
    /// - Returns: The response without its body.
    /// - Throws: The errors of ``open(_:_:)``; `network.file` if the file cannot be written.
    public func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions = HTTPOptions()
    ) async throws -> HTTPResponse {
        try await download(request, to: path, options) { _ in }
    }

    /// Sends a request, and writes the response's body to a file.
    ///
    /// - Parameter headed: A function that is called with the response once its head has arrived, and again if its body
    ///   is interrupted and another attempt follows.
    package func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Void
    ) async throws -> HTTPResponse {
        swept?.sweep(beside: path)
        return try await begin(request, options).downloaded(to: path, headed: headed)
    }

    /// Returns the fresh response to a request in memory; `nil` if there is none, or the cache alone cannot answer.
    func remembered(_ request: HTTPRequest, _ options: HTTPOptions) -> RememberedResponse? {
        guard let cache, interceptors.isEmpty, refusal == nil, observers().isEmpty, mayCache(request, options) else {
            return nil
        }
        var options = credentials.chosen(for: request, withTLS(options, for: request))
        options.isWhole = true
        guard let identity = try? identity(of: request, options), identity.conditions.isEmpty else { return nil }
        return cache.remembered(
            request, CacheKey(identity, options, request, isShared: cache.isShared),
            CacheRules(options.cache, isShared: cache.isShared), at: retries.date())
    }

    private func begin(_ request: HTTPRequest, _ options: HTTPOptions) -> ExchangeRun {
        ExchangeRun(self, request, options.bounded)
    }

    package func requireExecutor(for request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) {
        if let refusal { throw refusal }
        if !isSubstituted(request, options) { _ = try connection(for: request, options) }
    }

    /// Returns whether a mock or a cassette answers a request instead of a server.
    package func isSubstituted(_ request: HTTPRequest, _ options: HTTPOptions) -> Bool {
        request.scheme != "file" && (cassette?.player != nil || mocks.apply(to: request, options))
    }

    /// Returns whether a cache may answer a request; with a cassette it may not, since a cassette needs the servers'
    /// responses.
    func mayCache(_ request: HTTPRequest, _ options: HTTPOptions) -> Bool {
        request.mayBeCached && cassette == nil && !isSubstituted(request, options)
    }

    package func executor(for request: HTTPRequest, _ options: HTTPOptions) async throws -> any HTTPExecutor {
        if let refusal { throw refusal }
        if let mock = try mocks.executor(for: request, options, clock) { return mock }
        let cassette = request.scheme == "file" ? nil : cassette
        if let player = cassette?.player { return player }
        let executor = try await connection(for: request, options)(options.call ?? Call())
        return cassette?.recording(executor) ?? executor
    }

    private func connection(for request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) -> Connect {
        if let refusal { throw refusal }
        let scheme = request.scheme, name = options.executor ?? scheme
        if let connect = named[name] { return connect }
        if options.executor == nil, let executor = executors.first(where: { $0.schemes.contains(scheme) }) {
            return { _ in executor }
        }
        let words: String
        if reserved.contains(name) {
            words =
                "requests that an executor sends itself cannot use the executor `\(name)`; "
                + "the two might wait for each other"
        } else if options.executor != nil {
            let names = named.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
            words = "no executor is named `\(name)`; \(registry) has \(names.isEmpty ? "none" : names)"
        } else {
            let isProgram = swept != nil  // the names of a manifest's executors are schemes
            let schemes = Set(executors.flatMap(\.schemes)).union(isProgram ? [] : Array(named.keys)).sorted()
            words =
                "this \(isProgram ? "pipeline" : "host") cannot load `\(scheme):` URLs; it supports "
                + schemes.map { "`\($0):`" }.joined(separator: ", ")
        }
        throw BackplaneError(.networkRefused, words, at: request.printableURL)
    }

    /// Returns the limits that a request passes.
    ///
    /// The requests that a plugin's executor sends pass the limits. The request that it serves does not, because the
    /// two would wait for each other.
    func limits(for request: HTTPRequest, _ options: HTTPOptions) -> NetworkLimits {
        let isDelegated = swept == nil && named[options.executor ?? request.scheme] != nil
        return isDelegated ? .none : limits
    }

    func withTLS(_ options: HTTPOptions, for request: HTTPRequest) -> HTTPOptions {
        guard !tls.isEmpty, request.scheme == "https", let settings = tls.settings(ofHost: request.hostName) else {
            return options
        }
        var options = options
        options.tls = settings
        return options
    }
}

/// The folders from which a program's pipeline has removed files left by downloads of killed processes.
///
/// A host does that for the folders of its components.
package final class SweptFolders: Sendable {
    private static let limit = 1_000
    private let folders = Mutex<Set<Substring>>([])

    func sweep(beside path: String) {
        let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        let isNew = folders.withLock { folders in
            if folders.count >= Self.limit { folders = [] }
            return folders.insert(folder).inserted
        }
        if isNew { IncomingFile.removeAbandoned(beside: path) }
    }
}
