public import Backplane
public import FoundationEssentials

/// A store of responses that replaces the cache on the disk of a program or a host.
///
/// A plugin provides a store with the contract ``CacheProviding``. An error, or an answer that takes longer than a
/// second, is logged and treated as if there were no response. A response may be removed at any time.
public protocol CacheProvider: Sendable {
    /// Returns the response with a key; `nil` if there is none.
    func load(_ key: String) async throws -> CachedResponse?

    /// Stores a response, and replaces the one with the same key.
    func store(_ response: CachedResponse, for key: String) async throws

    /// Removes the responses that a rule selects, and returns their number.
    @discardableResult
    func removeExpired(_ rule: CacheExpiry) async throws -> Int
}

/// The contract of a manager that stores responses for its host.
///
/// The manifest names the manager as `provider` under `network.cache`. It replaces the cache on the disk.
public struct CacheProviding: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns the response with a key; `nil` if there is none.
    public let load = AsyncMethod<String, CachedResponse?>()
    /// Stores a response, and replaces the one with the same ``CachedResponse/key``.
    public let store = AsyncMethod<CachedResponse, Nothing>()
    /// Removes the responses that a rule selects, and returns their number.
    public let removeExpired = AsyncMethod<CacheExpiry, Int>()

    /// Creates the contract.
    public init() {}
}

/// A response in a cache.
public struct CachedResponse: Sendable, Codable, Equatable {
    /// The key: 64 hexadecimal digits, which reveal nothing about the request or its sender.
    public var key: String
    /// The URL without credentials and query.
    public var url: String
    /// The name of the endpoint that was loaded; `nil` for a request without one.
    public var endpoint: String?
    /// The tags by which the response can be removed.
    public var tags: [String]
    /// The status code.
    public var status: Int
    /// The header fields, without connection-specific fields.
    public var headers: HTTPHeaders
    /// The whole body, after decoding.
    public var body: Data
    /// The time at which the request was sent.
    public var requested: Date
    /// The time at which the response, or its last confirmation by the server, arrived.
    public var received: Date
    /// The time from which the response no longer answers, even if the server fails.
    public var expires: Date
    /// The values of the request's header fields on which the response depends, by their names in lower case.
    public var varying: [String: String]

    package init(
        key: String, url: String, endpoint: String?, tags: [String], _ response: HTTPResponse, requested: Date,
        received: Date, expires: Date, varying: [String: String]
    ) {
        (self.key, self.url, self.endpoint, self.tags) = (key, url, endpoint, tags)
        (status, headers, body) = (response.status, response.headers, Data(response.body))
        (self.requested, self.received, self.expires, self.varying) = (requested, received, expires, varying)
    }

    /// The approximate number of bytes of the response.
    public var cost: Int {
        headers.fields.reduce(body.count + 500) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}

/// A rule that selects the responses to remove from a cache; without conditions, it selects all.
public struct CacheExpiry: Sendable, Codable, Equatable {
    /// The time by which a response has expired.
    public var date: Date?
    /// The name of the endpoint.
    public var endpoint: String?
    /// The beginning of the URL, without credentials and query.
    public var prefix: String?
    /// One of the tags with which the response was requested.
    public var tag: String?
    /// The URL, without credentials and query.
    package var url: String?

    /// Creates a rule, which selects the responses that meet all conditions.
    public init(date: Date? = nil, endpoint: String? = nil, prefix: String? = nil, tag: String? = nil) {
        (self.date, self.endpoint, self.prefix, self.tag) = (date, endpoint, prefix, tag)
    }

    /// The rule that selects all responses.
    public static let all = CacheExpiry()

    /// Returns whether the rule selects a response.
    public func selects(_ response: CachedResponse) -> Bool {
        date.map { response.expires <= $0 } ?? true && endpoint.map { response.endpoint == $0 } ?? true
            && prefix.map { response.url.hasPrefix($0) } ?? true && tag.map { response.tags.contains($0) } ?? true
            && url.map { response.url == $0 } ?? true
    }
}
