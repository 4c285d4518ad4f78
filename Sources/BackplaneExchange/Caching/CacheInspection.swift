import Backplane
package import BackplaneNetwork
package import FoundationEssentials
import Synchronization

/// A cache whose responses can be listed.
package protocol InspectableCache: Sendable {
    /// Returns the responses without their bodies, the most recent first; `nil` if the cache cannot list them.
    ///
    /// - Parameters:
    ///   - url: The URL without credentials and query; `nil` for every URL.
    ///   - limit: The maximum number of responses.
    func entries(of url: String?, limit: Int) async throws -> [CacheEntry]?

    /// The usage of the cache; `nil` if it is unknown.
    var usage: CacheUsage? { get async throws }
}

/// A response in a cache, without its header and body.
package struct CacheEntry: Codable, Sendable, Hashable {
    package var key: String
    package var url: String
    package var endpoint: String?
    package var tags: [String]
    package var status: Int
    package var size: Int
    /// The time at which the response arrived, in seconds since 1970.
    package var received: Double
    /// The time from which the response can no longer be used, in seconds since 1970.
    package var expires: Double
    package var place: String

    package init(
        key: String, url: String, endpoint: String?, tags: [String], status: Int, size: Int, received: Date,
        expires: Date, in place: CachePolicy.Place
    ) {
        (self.key, self.url, self.endpoint, self.tags) = (key, url, endpoint, tags)
        (self.status, self.size, self.place) = (status, size, place.rawValue)
        (self.received, self.expires) = (received.timeIntervalSince1970, expires.timeIntervalSince1970)
    }

    package init(_ response: CachedResponse, in place: CachePolicy.Place) {
        self.init(
            key: response.key, url: response.url, endpoint: response.endpoint, tags: response.tags,
            status: response.status, size: response.body.count, received: response.received, expires: response.expires,
            in: place)
    }
}

/// The usage of a cache.
package struct CacheUsage: Codable, Sendable, Hashable {
    package var entries: Int
    /// The approximate number of bytes of all responses, and the maximum.
    package var bytes, limit: Int
    /// The number of responses that were removed to make room since the cache was opened.
    package var evictions: Int

    package init(entries: Int, bytes: Int, limit: Int, evictions: Int) {
        (self.entries, self.bytes, self.limit, self.evictions) = (entries, bytes, limit, evictions)
    }
}

/// The responses of a cache, and the names of the places that cannot list theirs.
package struct CacheListing: Codable, Sendable {
    package var entries: [CacheEntry] = []
    package var unlisted: [String] = []

    package init() {}
}

/// The statistics of a place of a cache.
package struct CacheStatistics: Codable, Sendable, Hashable {
    package var place: String
    package var hits, misses: Int
    /// The usage; `nil` if the place does not know it.
    package var usage: CacheUsage?

    package init(place: String, hits: Int, misses: Int, usage: CacheUsage?) {
        (self.place, self.hits, self.misses, self.usage) = (place, hits, misses, usage)
    }
}

extension ResponseCache {
    /// Returns the responses of all places, the most recent of each place first.
    package func list(of url: String? = nil, limit: Int) async throws -> CacheListing {
        var listing = CacheListing()
        listing.entries = responsesInMemory.filter { url == nil || $0.url == url }
            .sorted { $0.received > $1.received }.prefix(limit).map { CacheEntry($0, in: .memory) }
        guard let provider else { return listing }
        let left = limit - listing.entries.count
        if let entries = try await (provider as? any InspectableCache)?.entries(of: url, limit: left) {
            listing.entries += entries
        } else {
            listing.unlisted = [CachePolicy.Place.disk.rawValue]
        }
        return listing
    }

    /// Returns the responses with a key, or of a URL, with their places.
    ///
    /// Credentials and query of the URL are ignored. For a URL, a provider that cannot list its responses returns none.
    package func find(_ text: String) async throws -> [(response: CachedResponse, place: CachePolicy.Place)] {
        let url = text.contains("://") ? HTTPRequest("GET", text).printableURL : nil
        var found = responsesInMemory.filter { url.map($0.url.elementsEqual) ?? ($0.key == text) }
            .map { (response: $0, place: CachePolicy.Place.memory) }
        guard let provider else { return found }
        var keys = [text]
        if let url {
            keys = try await (provider as? any InspectableCache)?.entries(of: url, limit: 100)?.map(\.key) ?? []
        }
        for key in keys {
            if let response = try await provider.load(key) { found.append((response, .disk)) }
        }
        return found
    }

    package func statistics() async throws -> [CacheStatistics] {
        let (memory, counts) = state.withLock { state in
            (
                CacheUsage(
                    entries: state.memory.count, bytes: state.memory.cost, limit: state.memory.limit,
                    evictions: state.memory.evictions), state.counts
            )
        }
        func statistics(of places: [CachePolicy.Place], _ usage: CacheUsage?) -> CacheStatistics {
            CacheStatistics(
                place: places[0].rawValue, hits: places.reduce(0) { $0 + (counts[$1]?.hits ?? 0) },
                misses: places.reduce(0) { $0 + (counts[$1]?.misses ?? 0) }, usage: usage)
        }
        guard let provider else { return [statistics(of: [.memory, .disk], memory)] }
        let usage = try await (provider as? any InspectableCache)?.usage
        return [statistics(of: [.memory], memory), statistics(of: [.disk], usage)]
    }

    /// The responses in memory, without the entries that only name the fields by which other responses vary.
    private var responsesInMemory: [CachedResponse] {
        state.withLock { $0.memory.responses }.filter { $0.status != 0 }
    }
}
