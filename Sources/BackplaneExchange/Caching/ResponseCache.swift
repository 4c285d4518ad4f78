public import Backplane
public import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The cache of a program or a host: responses in memory and from a provider, such as a cache on the disk.
///
/// ```swift
/// let cache = ResponseCache(disk: try SQLiteResponseCache(folder: folder) { print($0) })
/// let http = HTTPClient(HTTPPipeline([AsyncHTTPClientExecutor()], cache: cache))
/// ```
///
/// Without a provider, responses for the disk are also kept in memory. The responses of one account never answer the
/// requests of another, unless the cache is shared.
public final class ResponseCache: Sendable {
    /// The number of removals that are remembered, so that a response requested before its removal is not stored.
    private static let mostRemovals = 100
    static let limit = Duration.seconds(1)
    struct State {
        var memory: MemoryCache
        /// The responses that the provider is storing.
        var pending: [String: CachedResponse] = [:]
        /// The latest rules by which responses were removed, and the total number of removals.
        var removals: [CacheExpiry] = []
        var removed = 0
        var counts: [CachePolicy.Place: Counts] = [:]
        var hasFailed = false
    }
    package struct Counts: Sendable, Codable { package var hits = 0, misses = 0 }
    let provider: (any CacheProvider)?
    package let isShared: Bool
    private let report: @Sendable (BackplaneError) -> Void
    let state: Mutex<State>

    /// Creates a cache without responses in memory.
    ///
    /// - Parameters:
    ///   - memory: The maximum size of the responses in memory, in bytes.
    ///   - disk: The provider of the responses on the disk.
    ///   - isShared: A Boolean value that indicates whether several users share the cache, as in a proxy. A shared
    ///     cache stores nothing that is private, and compares only the fields of requests that responses vary with.
    ///   - report: A function that receives the first error of the provider after each success.
    public init(
        memory: Int = 32 << 20, disk: (any CacheProvider)? = nil, isShared: Bool = false,
        report: @escaping @Sendable (BackplaneError) -> Void = { _ in }
    ) {
        (provider, self.isShared, self.report) = (disk, isShared, report)
        state = Mutex(State(memory: MemoryCache(limit: max(0, memory))))
    }

    var isOnlyInMemory: Bool { provider == nil }

    /// Removes the responses that a rule selects, and returns their number.
    ///
    /// - Throws: `network.cache` if the provider fails.
    @discardableResult
    public func flush(_ rule: CacheExpiry) async throws(BackplaneError) -> Int {
        let count = state.withLock { state in
            state.removed += 1
            state.removals = state.removals.suffix(Self.mostRemovals - 1) + [rule]
            state.pending = state.pending.filter { !rule.selects($0.value) }
            return state.memory.removeExpired(rule)
        }
        guard let provider else { return count }
        do { return count + (try await provider.removeExpired(rule)) } catch {
            throw BackplaneError(
                .networkCache, "the cache cannot remove responses: \(BackplaneError(thrown: error).message)")
        }
    }

    /// Returns the stored response to a request; `nil` if there is none.
    func response(to request: HTTPRequest, _ key: CacheKey, in place: CachePolicy.Place) async -> CachedResponse? {
        var found = await load(key.text, in: place)
        if let first = found, first.isOfVariants {
            found = await load(key.variant(first.varying.keys.sorted(), of: request), in: place)
        }
        return found
    }

    func count(isHit: Bool, in place: CachePolicy.Place) {
        state.withLock { state in
            if isHit {
                state.counts[place, default: Counts()].hits += 1
            } else {
                state.counts[place, default: Counts()].misses += 1
            }
        }
    }

    /// Returns the fresh response to a request in memory, unless it varies by the request's fields; `nil` if there is
    /// none.
    func remembered(_ request: HTTPRequest, _ key: CacheKey, _ rules: CacheRules, at now: Date) -> RememberedResponse? {
        state.withLock { state in
            guard let (stored, decoded) = state.memory.find(key.text), !stored.isOfVariants,
                rules.decide(request, stored, at: now) == .reuse
            else { return nil }
            state.counts[.memory, default: Counts()].hits += 1
            var response = HTTPResponse(status: stored.status, headers: stored.headers)
            rules.note(age: stored, at: now, in: &response)
            response.source = .memory
            return RememberedResponse(response, body: stored.body, decoded)
        }
    }

    var position: Int { state.withLock(\.removed) }

    /// Stores a response to a request, unless it was removed since the request was sent.
    func store(
        _ response: CachedResponse, to request: HTTPRequest, _ key: CacheKey, in place: CachePolicy.Place,
        since position: Int
    ) async {
        let isRemoved = state.withLock { state in
            let later = state.removed - position
            return later > state.removals.count || state.removals.suffix(later).contains { $0.selects(response) }
        }
        guard !isRemoved else { return }
        guard let names = CacheRules.varying(response.headers), !names.isEmpty else {
            return await store(response, for: key.text, in: place)
        }
        var variants = response
        (variants.status, variants.headers, variants.body) = (0, [:], Data())
        variants.varying = Dictionary(names.map { ($0, "") }) { first, _ in first }
        await store(variants, for: key.text, in: place)
        await store(response, for: key.variant(names.sorted(), of: request), in: place)
    }

    /// Removes the responses from a URL, for all senders.
    func invalidate(_ url: String) async {
        var rule = CacheExpiry()
        rule.url = HTTPRequest("GET", url).printableURL
        do { try await bounded { [self, rule] in _ = try await flush(rule) } } catch { failed(error) }
    }

    private func load(_ text: String, in place: CachePolicy.Place) async -> CachedResponse? {
        guard place == .disk, let provider else { return state.withLock { $0.memory.load(text) } }
        let key = CacheKey.digest(text)
        if let pending = state.withLock({ $0.pending[key] }) { return pending }
        do {
            let found = try await bounded { try await provider.load(key) }
            state.withLock { $0.hasFailed = false }
            return found
        } catch {
            failed(error)
            return nil
        }
    }

    private func store(_ response: CachedResponse, for text: String, in place: CachePolicy.Place) async {
        guard place == .disk, let provider else {
            return state.withLock { state in
                var response = response
                response.key = CacheKey.digest(text)
                state.memory.store(response, for: text)
            }
        }
        var response = response
        let key = CacheKey.digest(text)
        response.key = key
        state.withLock { $0.pending[key] = response }
        do { try await bounded { [response] in try await provider.store(response, for: key) } } catch { failed(error) }
        state.withLock { if $0.pending[key]?.received == response.received { $0.pending[key] = nil } }
    }

    private func bounded<Value: Sendable>(
        _ step: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Race.run(
            step, within: Self.limit,
            otherwise: BackplaneError(.networkCache, "the cache did not answer within \(Self.limit)"))
    }

    private func failed(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        let isFirst = state.withLock { state in
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if isFirst { report(BackplaneError(thrown: error)) }
    }
}

/// The key of the responses to equal requests.
struct CacheKey: Sendable {
    let text: String

    /// Creates a key.
    ///
    /// A private cache always compares the fields that may identify a sender. If the policy has a lifetime, all fields
    /// are compared, because servers that send no directives for caches do not send `Vary` either.
    init(_ identity: RequestIdentity, _ options: HTTPOptions, _ request: HTTPRequest, isShared: Bool) {
        if isShared, options.credential == nil, options.cache.lifetime == nil {
            text = "\(request.method) \(request.url.prefix { $0 != "#" })"
        } else if options.cache.lifetime == nil {
            text = "\(identity.sender) \(options.decompresses)"
        } else {
            text = "\(identity.sender) \(options.decompresses)\n\n\(identity.selection)"
        }
    }

    /// Returns the key of one of several responses, which vary with fields of the request.
    func variant(_ names: [String], of request: HTTPRequest) -> String {
        let values = CacheRules.values(of: names, in: request)
        return names.reduce("\(text)\n\nvary") { "\($0)\n\($1):\(values[$1] ?? "")" }
    }

    static func digest(_ text: String) -> String { ContentDigest.sha256(of: Array(text.utf8)).hexadecimal }
}

extension CachedResponse {
    /// Whether the entry only names the fields by which the responses vary.
    fileprivate var isOfVariants: Bool { status == 0 }
}
