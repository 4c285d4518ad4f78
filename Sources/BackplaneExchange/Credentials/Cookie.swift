import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// A cookie as set by a server (RFC 6265), with the prefixes of names of its revision.
struct Cookie: Sendable {
    /// The maximum size of a cookie with its attributes (RFC 6265, section 6.1).
    static let mostBytes = 4_096

    let name: String
    let value: Secret
    let domain: String
    let isForHost: Bool
    let path: String
    let isSecure: Bool
    /// The time at which the cookie expires; `nil` means that it lasts as long as the jar.
    let expiry: Date?

    /// Parses a `Set-Cookie` field of a response; returns `nil` if the server may not set that cookie.
    init?(_ field: String, from origin: HTTPOrigin, path requested: String, now: Date) {
        guard field.utf8.count <= Self.mostBytes, BasicField.hasNoControls(field.replacing("\t", with: " ")) else {
            return nil
        }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        name = String(pair[..<equals].trimmingBlanks)
        guard !name.isEmpty else { return nil }
        value = Secret(String(pair[pair.index(after: equals)...].trimmingBlanks))
        var attributes: [String: String] = [:], expiry: Date?, lifetime: Double?
        for part in parts.dropFirst() {
            let equals = part.firstIndex(of: "=") ?? part.endIndex
            let name = part[..<equals].trimmingBlanks.lowercased()
            let value = String(part[equals...].dropFirst().trimmingBlanks)
            // An attribute without a meaning is ignored, so that an earlier attribute with its name stays.
            switch name {
            case "max-age": lifetime = Self.lifetime(value) ?? lifetime
            case "expires": expiry = Date(httpDate: value) ?? expiry
            default: attributes[name] = value
            }
        }
        var domain = attributes["domain"] ?? ""
        if domain.hasPrefix(".") { domain.removeFirst() }
        domain = domain.hostKey
        if domain.isEmpty || domain == origin.host {
            (self.domain, isForHost) = (origin.host, attributes["domain"]?.isEmpty ?? true)
        } else {
            // A single label such as `com` is a public suffix, and so is `localhost`, except for itself.
            guard domain.contains("."), Self.isBelow(domain, origin.host) else { return nil }
            (self.domain, isForHost) = (domain, false)
        }
        isSecure = attributes["secure"] != nil
        guard !isSecure || origin.scheme == "https" else { return nil }
        if let given = attributes["path"], given.hasPrefix("/") {
            path = given
        } else {
            path = Self.folder(of: requested)
        }
        self.expiry = lifetime.map { $0 > 0 ? now + $0 : .distantPast } ?? expiry
        // The prefixes promise that no insecure or neighbouring host has set the cookie (RFC 6265bis, section 4.1.3).
        let prefix = name.lowercased()
        guard isSecure || !prefix.hasPrefix("__secure-") && !prefix.hasPrefix("__host-") else { return nil }
        guard !prefix.hasPrefix("__host-") || isForHost && attributes["path"] == "/" else { return nil }
    }

    /// Returns the seconds of a `Max-Age`, which are digits, perhaps after a minus sign; `nil` for anything else.
    private static func lifetime(_ value: String) -> Double? {
        guard value.hasPrefix("-") else { return value.wholeNumber.map { min(Double($0), 1e9) } }
        return value.dropFirst().wholeNumber.map { -Double($0) }
    }

    func matches(_ origin: HTTPOrigin, path requested: String, now: Date) -> Bool {
        guard domain == origin.host || !isForHost && Self.isBelow(domain, origin.host) else { return false }
        guard !isSecure || origin.scheme == "https", expiry.map({ $0 > now }) ?? true else { return false }
        return requested == path || requested.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }

    func replaces(_ other: Cookie) -> Bool { name == other.name && domain == other.domain && path == other.path }

    /// Returns whether a host is a subdomain of a domain; an address never is.
    private static func isBelow(_ domain: String, _ host: String) -> Bool {
        host.hasSuffix("." + domain) && !host.utf8.allSatisfy { "0123456789.:[]".utf8.contains($0) }
    }

    /// Returns the path of a cookie without one (RFC 6265, section 5.1.4).
    private static func folder(of path: String) -> String {
        guard path.hasPrefix("/"), let last = path.lastIndex(of: "/"), last != path.startIndex else { return "/" }
        return String(path[..<last])
    }
}

/// The cookies of one principal, in memory.
final class CookieJar: Sendable {
    /// The maximum number of cookies, beyond which the oldest are removed (RFC 6265, section 6.1).
    static let most = 3_000

    private let date: @Sendable () -> Date
    private let cookies = Mutex<[Cookie]>([])

    init(date: @escaping @Sendable () -> Date) { self.date = date }

    func receive(_ headers: HTTPHeaders, to request: HTTPRequest) {
        let fields = headers.values("Set-Cookie")
        guard !fields.isEmpty, let origin = HTTPOrigin(request.url) else { return }
        let now = date(), path = request.path
        cookies.withLock { cookies in
            for cookie in fields.compactMap({ Cookie($0, from: origin, path: path, now: now) }) {
                let index = cookies.firstIndex(where: cookie.replaces),
                    isCurrent = cookie.expiry.map { $0 > now } ?? true
                switch (index, isCurrent) {
                case (let index?, true): cookies[index] = cookie  // keeps its place (RFC 6265, section 5.3)
                case (let index?, false): cookies.remove(at: index)
                case (nil, true): cookies.append(cookie)
                case (nil, false): break
                }
            }
            cookies.removeFirst(max(0, cookies.count - Self.most))
        }
    }

    /// Returns a request with the matching cookies, unless it has cookies of its own.
    func request(_ request: HTTPRequest) -> HTTPRequest {
        guard request.headers["Cookie"] == nil, let origin = HTTPOrigin(request.url) else { return request }
        let now = date(), path = request.path
        let pairs = cookies.withLock { cookies in
            cookies.removeAll { $0.expiry.map { $0 <= now } ?? false }
            return cookies.filter { $0.matches(origin, path: path, now: now) }
                .enumerated().sorted { a, b in
                    let (first, second) = (a.element.path.utf8.count, b.element.path.utf8.count)
                    return first != second ? first > second : a.offset < b.offset
                }.map { "\($0.element.name)=\($0.element.value.revealed)" }
        }
        guard !pairs.isEmpty else { return request }
        var request = request
        request.headers["Cookie"] = pairs.joined(separator: "; ")
        return request
    }
}

extension HTTPRequest {
    fileprivate var path: String {
        let path = WebURL(url)?.path ?? ""
        return path.isEmpty ? "/" : path
    }
}
