package import Backplane
package import BackplaneExchange
import BackplaneHost
package import BackplaneNetwork
package import FoundationEssentials

/// A request about the cached responses of a host.
package struct CacheRequest: ControlMessage {
    package static let name = "cache"

    package enum Operation: String, Codable, CaseIterable, Sendable { case list, show, flush, statistics }

    package struct Answer: Codable, Sendable {
        package var listing: CacheListing?
        package var responses: [Response]?
        /// The number of responses that `flush` removed.
        package var removed: Int?
        package var statistics: [CacheStatistics]?
    }

    /// A response in the answer to `show`.
    package struct Response: Codable, Sendable {
        package var entry: CacheEntry
        /// The header fields, without the values of cookies.
        package var headers: HTTPHeaders
        /// The body in Base64, if it was requested.
        package var body: Data?
    }

    package var operation: Operation
    /// The maximum number of responses of `list`; `nil` for 1,000.
    package var limit: Int?
    /// The key or the URL of `show`, without credentials and query.
    package var key: String?
    /// A Boolean value that indicates whether `show` returns bodies.
    package var body = false
    /// The rule of `flush`; without conditions, it selects all.
    package var rule: CacheExpiry?

    package init(_ operation: Operation) { self.operation = operation }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        try await request.answer(from: host.cache)
    }

    /// Performs the request.
    ///
    /// - Throws: `control.malformed`; `network.cache` if there is no such response, or the cache cannot be used.
    package func answer(from cache: ResponseCache) async throws(BackplaneError) -> Answer {
        do {
            var answer = Answer()
            switch operation {
            case .list: answer.listing = try await cache.list(limit: max(0, limit ?? 1_000))
            case .show: answer.responses = try await responses(in: cache)
            case .flush:
                guard let rule else {
                    throw BackplaneError(.controlMalformed, "`flush` requires `rule`, {} for all", at: "/rule")
                }
                answer.removed = try await cache.flush(rule)
            case .statistics: answer.statistics = try await cache.statistics()
            }
            return answer
        } catch {
            throw BackplaneError(thrown: error)
        }
    }

    private func responses(in cache: ResponseCache) async throws -> [Response] {
        guard let key else { throw BackplaneError(.controlMalformed, "`show` requires `key`", at: "/key") }
        let found = try await cache.find(key)
        guard !found.isEmpty else {
            throw BackplaneError(
                .networkCache, "there is no response with this key or URL; `backplane cache list` lists them", at: key)
        }
        return found.map { response, place in
            var headers = response.headers
            if headers["Set-Cookie"] != nil { headers["Set-Cookie"] = "…" }
            return Response(
                entry: CacheEntry(response, in: place), headers: headers, body: body ? response.body : nil)
        }
    }
}
