package import Backplane

/// The rule by which loads are answered from a cache.
///
/// ```swift
/// var search = Endpoint<[Book]>("GET", "search", query: ["q": "whale"])
/// search.options.cache = .memory(for: .seconds(60))
/// cover.options.cache = .http
/// list.options.cache = .staleWhileRevalidate(.seconds(3_600))
/// ```
///
/// A response is stored only if it answers a `GET`, its body is loaded whole, and its status, the decoder and the
/// endpoint's verdict accept it. Files, streams and events are never stored. The response of one principal never
/// answers the request of another.
public struct CachePolicy: Sendable, Hashable {
    /// The place where responses are stored.
    public enum Place: String, Sendable {
        /// The memory of the process, from which the least recently used responses are removed.
        case memory
        /// Files, which survive a restart.
        case disk
    }
    /// The place of the responses; `nil` means that there is no cache.
    public var place: Place?
    /// The time for which a response is fresh; `nil` means the time that HTTP determines (RFC 9111).
    public var lifetime: Duration?
    /// The time for which a stale response still answers while the next one is loaded (RFC 5861).
    public var staleWhileRevalidate: Duration = .zero
    /// The time for which a stale response still answers if the server fails (RFC 5861).
    ///
    /// A server fails if it sends no response, or a response with the status 500, 502, 503 or 504.
    public var staleIfError: Duration = .zero

    init(_ place: Place?, _ lifetime: Duration? = nil) { (self.place, self.lifetime) = (place, lifetime) }

    /// No cache.
    public static let none = CachePolicy(nil)

    /// The freshness, validation and invalidation of HTTP (RFC 9111), for a private cache on the disk.
    public static let http = CachePolicy(.disk)

    /// Returns the freshness, validation and invalidation of HTTP (RFC 9111), for a private cache.
    public static func http(in place: Place) -> CachePolicy { CachePolicy(place) }

    /// Returns a policy that keeps responses in memory, fresh for a given time regardless of their header fields.
    public static func memory(for lifetime: Duration) -> CachePolicy { CachePolicy(.memory, lifetime.bounded) }

    /// Returns a policy that keeps responses on the disk, fresh for a given time regardless of their header fields.
    public static func disk(for lifetime: Duration) -> CachePolicy { CachePolicy(.disk, lifetime.bounded) }

    /// Returns a policy by which a stored response answers at once, while a new one is loaded for the next request.
    ///
    /// - Parameters:
    ///   - limit: The age beyond which a response no longer answers.
    ///   - place: The place of the responses.
    public static func staleWhileRevalidate(_ limit: Duration, in place: Place = .disk) -> CachePolicy {
        var policy = CachePolicy(place, .zero)
        policy.staleWhileRevalidate = limit.bounded
        return policy
    }

    /// Returns a policy by which a stored response answers only if the server fails.
    ///
    /// - Parameters:
    ///   - limit: The age beyond which a response no longer answers.
    ///   - place: The place of the responses.
    public static func staleIfError(_ limit: Duration, in place: Place = .disk) -> CachePolicy {
        var policy = CachePolicy(place, .zero)
        policy.staleIfError = limit.bounded
        return policy
    }
}

extension CachePolicy {
    /// The policy as text, for boundaries: `disk for=60.0 swr=3600.0 sie=86400.0`.
    package var text: String {
        guard let place else { return "none" }
        var words = [place.rawValue]
        if let lifetime { words.append("for=\(lifetime / .seconds(1))") }
        if staleWhileRevalidate > .zero { words.append("swr=\(staleWhileRevalidate / .seconds(1))") }
        if staleIfError > .zero { words.append("sie=\(staleIfError / .seconds(1))") }
        return words.joined(separator: " ")
    }

    /// Parses a policy from its text.
    ///
    /// - Throws: `network.refused` for any other text.
    package init(text: String) throws(BackplaneError) {
        let words = text.split(separator: " "),
            wrong = BackplaneError(
                .networkRefused,
                "the option `cache` is `\(text.prefix(100))`; expected `none`, or `memory` or `disk` and any of "
                    + "for=SECONDS, swr=SECONDS, sie=SECONDS")
        self.init(words.first.flatMap { Place(rawValue: String($0)) })
        guard place != nil || text == "none" else { throw wrong }
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let seconds = Double(parts[1]), (0...1e9).contains(seconds) else { throw wrong }
            let time = Duration.seconds(seconds)
            switch parts[0] {
            case "for": lifetime = time
            case "swr": staleWhileRevalidate = time
            case "sie": staleIfError = time
            default: throw wrong
            }
        }
    }
}

/// The treatment of a request that equals one in flight.
///
/// Requests are equal if they have the same method, URL, header, body, principal and options. Only requests whose
/// bodies are in memory and whose responses are loaded whole are compared; streams, files and events never are.
public enum EqualRequests: String, Sendable {
    /// One exchange is made, and all requests get its result; it is cancelled when the last request is.
    ///
    /// This is the default of the safe methods `GET`, `HEAD`, `OPTIONS` and `TRACE`.
    case coalesce
    /// The later request fails with `network.redundant`, so that a button that is tapped twice places one order.
    ///
    /// This is the default of all other methods.
    case reject
    /// Every request is made.
    case allow
}

/// The origin of a response; hosts of a later version may have additional ones.
public struct ResponseSource: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A server.
    public static let network = Self(rawValue: "network")
    /// A file below the manifest's folder.
    public static let file = Self(rawValue: "file")
    /// The cache in memory.
    public static let memory = Self(rawValue: "memory")
    /// The cache on the disk, or the cache provider that replaces it.
    public static let disk = Self(rawValue: "disk")
    /// A file in place of a server.
    public static let mock = Self(rawValue: "mock")
    /// A cassette that is replayed.
    public static let cassette = Self(rawValue: "cassette")
}
