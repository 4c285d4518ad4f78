import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The caches of a host, which outlive manifests that do not change their settings.
final class HostCaches: Sendable {
    private struct Entry { weak var cache: ResponseCache? }
    private let make: @Sendable (CacheSettings) -> ResponseCache
    /// The caches by their settings, each kept by the manifests that use it.
    private let caches = Mutex<[CacheSettings: Entry]>([:])

    /// - Parameter make: A function that creates the cache with some settings, in which nothing is open yet.
    init(_ make: @escaping @Sendable (CacheSettings) -> ResponseCache = { ResponseCache(memory: $0.memory) }) {
        self.make = make
    }

    /// Creates the caches of a host.
    ///
    /// - Parameters:
    ///   - managers: The managers, one of which the settings may name.
    ///   - open: The function that opens the cache on the disk; `nil` if there is none.
    ///   - folder: A function that creates the folder of the cache on the disk.
    ///   - hasFolder: A function that returns whether an earlier load has created it.
    convenience init(
        _ managers: NetworkManagers, by clock: any HostClock, _ log: any LogSink, open: HostOptions.CacheOpener?,
        folder: @escaping @Sendable () throws(BackplaneError) -> String,
        hasFolder: @escaping @Sendable () -> Bool
    ) {
        @Sendable func warn(_ message: String, _ provider: String?, _ error: BackplaneError) {
            log.report(.warning, message, ["cache": provider ?? "disk", "error": error.description])
        }
        self.init { settings in
            let disk: (any CacheProvider)?
            if let provider = settings.provider {
                disk = PluginCache(provider, managers, by: clock)
            } else if let open, settings.disk > 0 {
                disk = DiskCache(by: clock, exists: hasFolder) {
                    try open(folder(), settings.disk) { warn("the cache is or was damaged", nil, $0) }
                }
            } else {
                disk = nil
            }
            return ResponseCache(memory: settings.memory, disk: disk) { error in
                // A host that stops has exchanges until its last component is gone.
                guard error.code != .hostStopped else { return }
                warn("a cache failed, and is passed over until it answers", settings.provider, error)
            }
        }
    }

    func cache(with settings: CacheSettings) -> ResponseCache {
        caches.withLock { caches in
            if let known = caches[settings]?.cache { return known }
            let cache = make(settings)
            caches = caches.filter { $0.value.cache != nil }
            caches[settings] = Entry(cache: cache)
            return cache
        }
    }
}

/// The cache of a plugin's manager, which answers within a second, also while it is started or swapped.
struct PluginCache: CacheProvider {
    static let limit = Duration.seconds(1)
    private let name: String
    private let managers: NetworkManagers
    private let clock: any HostClock

    init(_ name: String, _ managers: NetworkManagers, by clock: any HostClock) {
        (self.name, self.managers, self.clock) = (name, managers, clock)
    }

    func load(_ key: String) async throws -> CachedResponse? { try await asking { try await $0.load(key, $1) } }

    func store(_ response: CachedResponse, for key: String) async throws {
        _ = try await asking { try await $0.store(response, $1) }
    }

    func removeExpired(_ rule: CacheExpiry) async throws -> Int {
        try await asking { try await $0.removeExpired(rule, $1) }
    }

    private func asking<Value: Sendable>(
        _ ask: @escaping @Sendable (Remote<CacheProviding>, Call) async throws -> Value
    ) async throws -> Value {
        let find = { @Sendable [managers, name] () async throws(BackplaneError) in
            try await managers.find(name, as: CacheProviding.self)
        }
        return try await Race.run(
            by: clock, { try await ask(find(), Call(within: Self.limit)) }, within: Self.limit,
            otherwise: BackplaneError(.networkCache, "`\(name)` did not answer within a second"))
    }
}

/// The cache on the disk of a host, opened at its first use on a thread of its own.
private final class DiskCache: CacheProvider, InspectableCache {
    private struct State {
        var cache: (any CacheProvider)?
        var opening: Task<any CacheProvider, any Error>?
        /// The time before which a failed opening is not tried again.
        var pause: Deadline?
    }
    private static let pause = Duration.seconds(60)
    private let clock: any HostClock
    private let exists: @Sendable () -> Bool
    private let open: @Sendable () throws -> any CacheProvider
    private let state = Mutex(State())

    init(
        by clock: any HostClock, exists: @escaping @Sendable () -> Bool,
        _ open: @escaping @Sendable () throws -> any CacheProvider
    ) {
        (self.clock, self.exists, self.open) = (clock, exists, open)
    }

    func load(_ key: String) async throws -> CachedResponse? { try await opened().load(key) }

    func store(_ response: CachedResponse, for key: String) async throws {
        try await opened().store(response, for: key)
    }

    /// Removes responses; a cache that does not exist yet is not opened because of changes on servers.
    func removeExpired(_ rule: CacheExpiry) async throws -> Int {
        guard exists() else { return 0 }
        return try await opened().removeExpired(rule)
    }

    func entries(of url: String?, limit: Int) async throws -> [CacheEntry]? {
        try await (opened() as? any InspectableCache)?.entries(of: url, limit: limit)
    }

    var usage: CacheUsage? {
        get async throws { try await (opened() as? any InspectableCache)?.usage }
    }

    /// Returns the cache.
    ///
    /// - Throws: The error of the opening, for a minute; the next use then tries again.
    private func opened() async throws -> any CacheProvider {
        if let cache = state.withLock({ $0.cache }) { return cache }
        let now = clock.moment
        let opening = state.withLock { state in
            if let opening = state.opening, state.pause.map({ now < $0 }) ?? true { return opening }
            let opening = Task { [open] in
                try await withCheckedThrowingContinuation {
                    (opened: CheckedContinuation<any CacheProvider, any Error>) in
                    if !HostThread.tryStart("bp-cache", { opened.resume(with: Result { try open() }) }) {
                        opened.resume(throwing: BackplaneError.noThread)
                    }
                }
            }
            (state.opening, state.pause) = (opening, nil)
            return opening
        }
        do {
            let cache = try await opening.value
            state.withLock { ($0.cache, $0.opening) = (cache, nil) }
            return cache
        } catch {
            let now = clock.moment
            state.withLock { $0.pause = $0.pause ?? now + Self.pause }
            throw error
        }
    }
}
