#if Engines
import Backplane
import BackplaneExchange
import BackplaneNetwork
import Glibc
import NIOCore
import Synchronization

/// The access control for the screens of an application.
///
/// A browser exchanges a one-time token, which the program prints, for a cookie. A cookie contains a random identifier,
/// the time of its issue, and their authentication code by the key (HMAC, RFC 2104). The server therefore keeps no list
/// of cookies, and browsers stay signed in when a program with the same key is restarted.
final class ScreenAccess: Sendable {
    /// A browser that is signed in.
    struct Browser: Hashable, Sendable {
        let id: String
    }
    /// The number of bytes of a key.
    static let keySize = 32
    /// The time for which a cookie is valid, and the time after which a browser receives a newer one, in seconds.
    static let lifetime = 30 * 86_400, renewal = 86_400
    private static let mostTokens = 100
    private let key: [UInt8]
    /// The host names of the server, besides `localhost` and the addresses of interfaces.
    private let names: Set<String>
    /// The unused tokens, the latest last.
    private let tokens = Mutex<[String]>([])

    init(key: [UInt8]? = nil, names: [String] = []) {
        self.key = key ?? Self.randomBytes(Self.keySize)
        self.names = Set(names.map { $0.lowercased() })
    }

    static func randomBytes(_ count: Int) -> [UInt8] {
        // The source of the system: `getrandom`.
        var source = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &source) }
    }

    // MARK: Tokens and cookies

    /// Returns a new token, which signs one browser in.
    func makeToken() -> String {
        let token = Self.randomBytes(16).hexadecimal
        tokens.withLock { tokens in
            tokens.append(token)
            if tokens.count > Self.mostTokens { tokens.removeFirst() }
        }
        return token
    }

    /// Signs a browser in and invalidates the token; returns `nil` for an invalid token.
    func redeem(_ token: String) -> Browser? {
        let isKnown = tokens.withLock { tokens in
            guard let index = tokens.lastIndex(where: { $0.isSame(as: token) }) else { return false }
            tokens.remove(at: index)
            return true
        }
        return isKnown ? Browser(id: Self.randomBytes(16).hexadecimal) : nil
    }

    /// Returns the value of a browser's cookie, issued at a time in seconds since 1970.
    func cookie(of browser: Browser, at now: Double = .secondsSince1970) -> String {
        let time = String(Int(now))
        return "\(browser.id).\(time).\(code("cookie \(time)", browser))"
    }

    /// Returns the browser with a cookie, and the age of the cookie in seconds.
    ///
    /// - Returns: `nil` if the server has not issued the cookie, or issued it too long ago.
    func browser(
        withCookie value: some StringProtocol, at now: Double = .secondsSince1970
    ) -> (browser: Browser, age: Int)? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 3, let time = Int(parts[1]) else { return nil }
        let browser = Browser(id: parts[0])
        guard code("cookie \(parts[1])", browser).isSame(as: parts[2]), Int(now) - time <= Self.lifetime else {
            return nil
        }
        return (browser, Int(now) - time)
    }

    /// Returns the token that every form and request of a script contains, which other sites cannot know.
    func formToken(of browser: Browser) -> String { code("form", browser) }

    func isFormToken(_ token: String, of browser: Browser) -> Bool { formToken(of: browser).isSame(as: token) }

    func code(_ use: String, _ browser: Browser) -> String {
        func padded(_ byte: UInt8) -> [UInt8] {
            (0..<64).map { (index: Int) -> UInt8 in (index < key.count ? key[index] : 0) ^ byte }
        }
        let inner = ContentDigest.sha256(of: padded(0x36) + Array("\(use) \(browser.id)".utf8))
        return ContentDigest.sha256(of: padded(0x5C) + inner).hexadecimal
    }

    // MARK: Hosts and origins

    /// Returns whether a request names this server by an address, as `localhost`, or by one of its names.
    ///
    /// A page of another site whose name resolves to this server (DNS rebinding) sends its own name.
    func isOwn(host: String?) -> Bool {
        guard let host = host?.lowercased() else { return false }
        let colon = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : Optional($0) }
        let name = String(host[..<(colon ?? host.endIndex)])
        return name == "localhost" || names.contains(name) || name.isAddress
    }

    /// Returns whether a request comes from a page of this server, or from no page.
    ///
    /// - Parameters:
    ///   - host: The host that the request names.
    ///   - origin: Its field `Origin`.
    ///   - site: Its field `Sec-Fetch-Site`, if the request changes something.
    static func isOwn(origin: String?, site: String?, host: String) -> Bool {
        if let site, site != "same-origin" { return false }
        guard let origin = origin?.lowercased() else { return true }
        return ["http", "https"].contains { origin == "\($0)://\(host.lowercased())" }
    }
}

extension String {
    /// Returns whether two texts are equal, in a time that depends only on their lengths.
    fileprivate func isSame(as other: String) -> Bool {
        let own = Array(utf8), other = Array(other.utf8)
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// A Boolean value that indicates whether the text is an address of version 4, or of version 6 in brackets.
    fileprivate var isAddress: Bool {
        let isBracketed = hasPrefix("[") && hasSuffix("]")
        guard let address = try? SocketAddress(ipAddress: isBracketed ? String(dropFirst().dropLast()) : self, port: 0)
        else { return false }
        return isBracketed == (address.protocol == .inet6)
    }
}
#endif
