package import Backplane
public import BackplaneNetwork
import Synchronization

/// The stages of every exchange of a host or a program: choice of the executor, limits, progress and timings.
///
/// ```swift
/// let network = HTTPPipeline([AsyncHTTPClientExecutor()])
/// let response = try await network.send(HTTPRequest("GET", "https://books.example.org/whale"))
/// ```
public struct HTTPPipeline: Sendable {
    /// A function that returns the current executor at the start of an exchange, given the exchange's call.
    package typealias Connect = @Sendable (Call) async throws -> any HTTPExecutor
    /// The executor of an exchange: an existing one, or one that has to be requested first.
    private enum Choice {
        case given(any HTTPExecutor)
        case connected(Connect)
    }
    private let executors: [any HTTPExecutor]
    private let tls: [String: TLSSettings]
    /// The executors of plugins, keyed by name, which is also the URL scheme that they serve.
    private let named: [String: Connect]
    /// The names of executors that these exchanges must not use, because the exchanges belong to these executors.
    private let reserved: Set<String>
    private let retries: Retries
    /// The clock of exchanges' limits and pauses.
    var clock: any DeadlineClock { retries.clock }
    /// The credentials that requests may choose.
    let credentials: Credentials
    /// The error for every exchange if it is unknown how to make exchanges; `nil` if they can be made.
    private let refusal: BackplaneError?
    /// The filters and the observers of exchanges.
    private let extensions: ExchangeExtensions
    /// The folders of downloads of a program without a host.
    private let swept: SweptFolders?

    /// Creates a pipeline; if there are several executors for one scheme, the first is used.
    ///
    /// - Parameters:
    ///   - executors: The executors.
    ///   - tls: The settings of TLS for the hosts that have any, by host name in lower case.
    ///   - retries: The budgets of retries, and the clock of exchanges.
    ///   - credentials: The credentials that requests may choose.
    ///   - filters: The filters, which run in this order.
    ///   - observers: The observers.
    public init(
        _ executors: [any HTTPExecutor], tls: [String: TLSSettings] = [:], retries: Retries = Retries(),
        credentials: Credentials = Credentials(), filters: [ExchangeFilter] = [],
        observers: [ExchangeObserver] = []
    ) {
        self.init(
            executors, tls: tls, named: [:], reserved: [], retries: retries, credentials: credentials,
            extensions: ExchangeExtensions(filters: filters, observers: observers),
            swept: SweptFolders())
    }

    package init(
        _ executors: [any HTTPExecutor], tls: [String: TLSSettings], named: [String: Connect], reserved: Set<String>,
        retries: Retries, credentials: Credentials = Credentials(),
        extensions: ExchangeExtensions = ExchangeExtensions(),
        refusal: BackplaneError? = nil
    ) {
        self.init(
            executors, tls: tls, named: named, reserved: reserved, retries: retries, credentials: credentials,
            extensions: extensions, refusal: refusal, swept: nil)
    }

    private init(
        _ executors: [any HTTPExecutor], tls: [String: TLSSettings], named: [String: Connect], reserved: Set<String>,
        retries: Retries, credentials: Credentials, extensions: ExchangeExtensions, refusal: BackplaneError? = nil,
        swept: SweptFolders?
    ) {
        (self.executors, self.named, self.reserved) = (executors, named, reserved)
        self.tls = Dictionary(tls.map { ($0.key.hostKey, $0.value) }) { first, _ in first }
        (self.retries, self.credentials, self.extensions, self.refusal) = (retries, credentials, extensions, refusal)
        self.swept = swept
    }

    /// Sends a request and returns the response with its body in memory, regardless of its status.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The maximum number of bytes of the body.
    ///   - options: The options of the exchange.
    /// - Throws: The errors of ``open(_:_:)``; `network.too-large` if the body has more than `limit` bytes.
    public func send(
        _ request: HTTPRequest, upTo limit: Int = HTTPOptions.collectionLimit, _ options: HTTPOptions = HTTPOptions()
    ) async throws -> HTTPResponse {
        try await send(request, upTo: limit, options) {}
    }

    /// Sends a request and returns the response with its body in memory.
    ///
    /// - Parameter headed: A function that is called once the head of the response has arrived.
    package func send(
        _ request: HTTPRequest, upTo limit: Int, _ options: HTTPOptions, headed: () -> Void
    ) async throws -> HTTPResponse {
        var options = options.bounded
        let hint = Swift.min(limit, options.maximumBodySize ?? limit)
        options.maximumBodySize = hint == limit ? nil : hint
        return try await accompanied(request, options) { start in
            var given = start.options
            given.maximumBodySize = hint
            let response = try await start.watch.open(executor(start), given)
            headed()
            return try await response.collect(upTo: limit, of: start.request)
        }
    }

    /// Sends a request, and returns once the head of the response has arrived, regardless of its status.
    ///
    /// - Throws: `network.refused` if no executor serves the URL, or none has the name; `network.unsupported` if the
    ///   executor lacks a capability that the request needs, before anything is sent; `network.timeout`;
    ///   `network.body`; `network.failed` and other codes of the network; `CancellationError`.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions = HTTPOptions()) async throws
        -> HTTPStreamedResponse
    {
        try await accompanied(request, options.bounded, ends: false) { start in
            let response = try await start.watch.open(executor(start), start.options)
            return start.observed?.watching(response) ?? response
        }
    }

    /// Sends a request, and writes the response's body to a file, which appears once it is complete.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - path: The path of the file, which replaces an existing one. Only its owner may read it.
    ///   - options: The options of the exchange.
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
        return try await accompanied(request, options.bounded) { start in
            try await start.watch.download(to: path, headed: headed) { complete in
                try await executor(start, completing: complete)
            }
        }
    }

    /// Makes an exchange with its filters, observers and TLS settings.
    ///
    /// - Parameter ends: A Boolean value that indicates whether the exchange ends with the response of `exchange`.
    private func accompanied<Response>(
        _ request: HTTPRequest, _ options: HTTPOptions, ends: Bool = true,
        _ exchange: (ExchangeStart) async throws -> Response
    ) async throws -> Response {
        let options = credentials.chosen(for: request, options)
        var start = ExchangeStart(request, options, extensions, clock)
        do {
            try await start.filter()
            start.follow(withTLS(start.options, for: start.request))
            let response = try await exchange(start)
            if ends { start.observed?.ended(nil) }
            return response
        } catch {
            start.observed?.ended(error)
            throw error
        }
    }

    // MARK: The choice of the executor

    /// Checks that there is an executor for a request.
    ///
    /// - Throws: `network.refused` if there is none; the error of the manifest if it does not specify how to make
    ///   exchanges.
    package func requireExecutor(for request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) {
        _ = try choice(for: request, options)
    }

    /// Returns the executor for a request.
    ///
    /// - Throws: `network.refused` if there is none; `network.failed` if the executor does not start.
    package func executor(for request: HTTPRequest, _ options: HTTPOptions) async throws -> any HTTPExecutor {
        try await executor(ExchangeStart(request, options, ExchangeExtensions(), clock))
    }

    private func executor(
        _ start: ExchangeStart,
        completing complete: (@Sendable (HTTPStreamedResponse) async throws -> HTTPStreamedResponse)? = nil
    ) async throws -> any HTTPExecutor {
        switch try choice(for: start.request, start.options) {
        case .given(let executor): return try staged(executor, start, complete)
        case .connected(let connect):
            let call = start.options.call ?? Call()
            return try staged(try await start.watch.limitedToHead { try await connect(call) }, start, complete)
        }
    }

    /// Returns an executor with the stages that the options request, from the outermost: retries, redirects,
    /// credentials and, next to the executor, the attempt filters.
    private func staged(
        _ executor: any HTTPExecutor, _ start: ExchangeStart,
        _ complete: (@Sendable (HTTPStreamedResponse) async throws -> HTTPStreamedResponse)?
    ) throws(BackplaneError) -> any HTTPExecutor {
        let options = start.options, observed = start.observed
        var executor = executor
        if let filters = start.filters { executor = FilterStage(next: executor, filters: filters) }
        if let stage = try credentialStage(around: executor, options) { executor = stage }
        if options.redirects > 0 {
            executor = RedirectStage(next: executor) { request, options in
                var hop = options
                (hop.redirects, hop.retry, hop.tls) = (0, nil, nil)
                (hop.attempted, hop.attempt) = (nil, 1)  // a hop is a part of the attempt, which is counted outside
                if let name = hop.credential, !credentials.covers(name, request) {
                    (hop.credential, hop.account) = (nil, nil)  // permanently, even if a later redirect leads back
                }
                hop = withTLS(hop, for: request)
                observed?.redirected(to: request)
                return (try await self.executor(start.hop(request, hop)), hop)
            }
        }
        if let observed { executor = ObservationStage(next: executor, observed: observed) }
        if options.retry != nil || options.attempted != nil || complete != nil {
            executor = RetryStage(
                next: executor, policy: options.retry ?? .none, retries: retries, observed: observed, complete: complete
            )
        }
        return executor
    }

    private func choice(for request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) -> Choice {
        if let refusal { throw refusal }
        let scheme = request.scheme, name = options.executor ?? scheme
        if let connect = named[name] { return .connected(connect) }
        if options.executor == nil, let executor = executors.first(where: { $0.schemes.contains(scheme) }) {
            return .given(executor)
        }
        let words: String
        if reserved.contains(name) {
            words =
                "requests that an executor sends itself cannot use the executor `\(name)`; "
                + "the two might wait for each other"
        } else if options.executor != nil {
            let names = named.keys.sorted().map { "`\($0)`" }.joined(separator: ", ")
            words =
                "no executor is named `\(name)`; the manifest's `network.executors` \(names.isEmpty ? "has none" : "has \(names)")"
        } else {
            let schemes = (executors.flatMap(\.schemes) + named.keys).sorted().map { "`\($0):`" }
            words = "this host cannot load `\(scheme):` URLs; it supports \(schemes.joined(separator: ", "))"
        }
        throw BackplaneError(.networkRefused, words, at: request.printableURL)
    }

    /// Returns the options with the settings of TLS for the request's host.
    private func withTLS(_ options: HTTPOptions, for request: HTTPRequest) -> HTTPOptions {
        guard !tls.isEmpty, request.scheme == "https", let settings = tls[request.hostName] else {
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
final class SweptFolders: Sendable {
    /// The number of folders beyond which all are forgotten and searched again.
    private static let limit = 1_000
    private let folders = Mutex<Set<Substring>>([])

    /// Removes such files from the folder of a file, before the first download to it.
    func sweep(beside path: String) {
        let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        let isNew = folders.withLock { folders in
            if folders.count >= Self.limit { folders = [] }
            return folders.insert(folder).inserted
        }
        if isNew { IncomingFile.removeAbandoned(beside: path) }
    }
}

/// The filters and observers of a pipeline's exchanges.
package struct ExchangeExtensions: Sendable {
    var filters: [ExchangeFilter]
    /// A function that returns the observers of a new exchange.
    var observers: @Sendable () -> [ExchangeObserver]

    package init(
        filters: [ExchangeFilter] = [],
        observers: @escaping @autoclosure @Sendable () -> [ExchangeObserver] = []
    ) {
        (self.filters, self.observers) = (filters, observers)
    }
}

/// One exchange before its executor is chosen: the request to send, with its filters and observers.
struct ExchangeStart: Sendable {
    private(set) var request: HTTPRequest
    private(set) var options: HTTPOptions
    private(set) var watch: ExchangeWatch
    let filters: FilterRun?
    /// The observation of the exchange; `nil` without observers.
    private(set) var observed: ObservedExchange?

    /// Creates the start of an exchange, and notifies the observers of it.
    init(_ request: HTTPRequest, _ options: HTTPOptions, _ extensions: ExchangeExtensions, _ clock: any DeadlineClock) {
        (self.request, self.options, watch) = (request, options, ExchangeWatch(request, options, clock))
        filters = FilterRun(extensions.filters, options)
        observed = ObservedExchange(
            ExchangeEvent(request, options), extensions.observers().map { observer in { observer.note($0) } }, clock)
        guard let observed else { return }
        self.options.received = { [own = options.received] count in
            own?(count)
            observed.received(count)
        }
        guard !request.body.isEmpty else { return }
        self.options.progress = { [own = options.progress] progress in
            own?(progress)
            observed.sent(progress.sent)
        }
    }

    /// Runs the filters of the request, within the time limits of the exchange.
    mutating func filter() async throws {
        guard let filters else { return }
        request = try await watch.limitedToHead { [request] in try await filters.request(request) }
    }

    /// Continues with other options.
    mutating func follow(_ options: HTTPOptions) {
        self.options = options
        watch = watch.replacing(request, options)
    }

    /// Returns the start of a redirected request, which is part of this exchange.
    func hop(_ request: HTTPRequest, _ options: HTTPOptions) -> ExchangeStart {
        var hop = self
        (hop.request, hop.observed) = (request, nil)
        (hop.options, hop.watch) = (options, ExchangeWatch(request, options, watch.clock))
        return hop
    }
}

extension ExchangeEvent {
    /// Creates the event of the start of an exchange.
    fileprivate init(_ request: HTTPRequest, _ options: HTTPOptions) {
        self.init(
            method: request.method, url: request.printableURL, component: options.sender,
            trace: options.call?.trace?.id)
        attempt = options.attempt - 1
    }
}
