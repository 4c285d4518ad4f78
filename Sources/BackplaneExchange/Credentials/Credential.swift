import BackplaneNetwork
import Synchronization

/// The data with which a host or a program authenticates requests to certain servers.
///
/// ```swift
/// let library = Credential(hosts: ["books.example.org"], .basic(Login(user: "ann", password: "white")))
/// ```
public struct Credential: Sendable, Hashable {
    /// The authentication scheme.
    public enum Scheme: Sendable, Hashable {
        /// A user and a password (RFC 7617), which are sent without a challenge if `isPreemptive`.
        case basic(Login, isPreemptive: Bool = true)
        /// A user and a password, sent as a digest (RFC 7616).
        case digest(Login)
        /// A bearer token (RFC 6750).
        case bearer(TokenSource)
        /// A custom scheme of the program.
        case custom(AuthenticationScheme)
        /// A manager that provides ``BackplaneNetwork/Authenticating``, with its values; only in a host.
        case component(_ manager: String, values: [String: Secret] = [:])
    }
    /// The hosts that receive credentials: names in lower case, each for all ports, or `name:port`.
    public var hosts: [String]
    /// The authentication scheme.
    public var scheme: Scheme
    /// The managers whose components may use the credential; `nil` means all.
    public var managers: [String]?
    /// A Boolean value that indicates whether each account stores the cookies of the hosts in memory.
    public var hasCookies: Bool

    /// Creates a credential, by default for the components of all managers, and without cookies.
    public init(hosts: [String], _ scheme: Scheme, managers: [String]? = nil, hasCookies: Bool = false) {
        (self.hosts, self.scheme, self.managers, self.hasCookies) = (hosts, scheme, managers, hasCookies)
    }

    func covers(_ request: HTTPRequest) -> Bool {
        guard let origin = HTTPOrigin(request.url) else { return false }
        let keys = [origin.host, "\(origin.host):\(origin.port)"]
        return hosts.contains { keys.contains($0.hostKey) }
    }
}

/// A user and a password.
public struct Login: Sendable, Hashable {
    /// The user and the password, each `nil` if it is supplied when an account signs in.
    public var user, password: Secret?

    /// Creates a login; a missing part is supplied as the value `user` or `password` when an account signs in.
    public init(user: Secret? = nil, password: Secret? = nil) { (self.user, self.password) = (user, password) }
}

/// The source of a bearer token: a fixed token, a function of the program, or a request.
public struct TokenSource: Sendable, Hashable {
    /// A function that returns a token; it is equal only to its copies.
    struct Function: Sendable, Hashable {
        private final class Identity: Sendable {}
        let call: @Sendable () async throws -> String
        private let identity = Identity()

        init(_ call: @escaping @Sendable () async throws -> String) { self.call = call }

        static func == (a: Function, b: Function) -> Bool { a.identity === b.identity }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
    }
    /// The fixed token.
    public var secret: Secret?
    var function: Function?
    /// The request for the first token.
    public var signIn: TokenRequest?
    /// The request for another token; without it, or if it is rejected, the sign-in is repeated.
    public var refresh: TokenRequest?
    /// The JSON pointer (RFC 6901) of the token in a response.
    public var token = ""
    /// The JSON pointer of the token's expiry: the number of seconds until then, the seconds since 1970, or a date.
    public var expires: String?
    /// The JSON pointer of the token for ``refresh``.
    public var refreshToken: String?
    /// A Boolean value that indicates whether tokens are stored in files across restarts.
    public var isKept = false
    /// The places of the token in requests to hosts that do not take it as `Authorization: Bearer`.
    ///
    /// The hosts are names in lower case, each for all ports, or `name:port`.
    public var places: [String: TokenPlace] = [:]

    /// Creates a source that requests its tokens, and by default does not store them.
    public init(
        signIn: TokenRequest, refresh: TokenRequest? = nil, token: String, expires: String? = nil,
        refreshToken: String? = nil, isKept: Bool = false
    ) {
        (self.signIn, self.refresh, self.token) = (signIn, refresh, token)
        (self.expires, self.refreshToken, self.isKept) = (expires, refreshToken, isKept)
    }

    /// Creates a source with a fixed token.
    public init(secret: Secret) { self.secret = secret }

    /// Creates a source that gets its tokens from a function, such as one of a library for signing in.
    ///
    /// The function is called for the first request, and again once a server has rejected the token. Requests that wait
    /// for the same token share one call. They fail with `network.sign-in` if the function throws an error, returns no
    /// token, or takes longer than a minute.
    public init(_ function: @escaping @Sendable () async throws -> String) { self.function = Function(function) }
}

/// The place of a token in a request to a host that does not take it as `Authorization: Bearer`.
public enum TokenPlace: Sendable, Hashable {
    /// The field `Authorization`, with the name of another scheme before the token.
    case scheme(String)
    /// A parameter of the query, such as `access_token` (RFC 6750, section 2.3).
    case query(String)
}

extension TokenPlace {
    /// Returns a request whose token is in this place instead of in `Authorization: Bearer`.
    fileprivate func moved(_ request: HTTPRequest) -> HTTPRequest {
        guard let authorization = request.authorization, authorization.hasPrefix("Bearer "),
            var url = WebURL(request.url)
        else { return request }
        let token = String(authorization.dropFirst(7))
        var request = request
        switch self {
        case .scheme(let name): request.headers["Authorization"] = "\(name) \(token)"
        case .query(let name):
            // The target of a redirect may already have the token that led there.
            let others = url.query?.split(separator: "&").filter { $0 != name && !$0.hasPrefix("\(name)=") } ?? []
            url.query = (others.map(String.init) + ["\(name)=\(token.percentEncodedValue)"]).joined(separator: "&")
            (request.url, request.headers["Authorization"]) = (url.text, nil)
        }
        return request
    }
}

extension Credentials {
    /// Returns a request with the token of a credential in the place where its host expects it.
    ///
    /// This is the last step before the executor, so that nothing else sees a URL with a token.
    ///
    /// - Parameter echoed: The token of the redirect that led to a host without the credential.
    func placed(_ request: HTTPRequest, _ name: String?, _ echoed: EchoedToken?) -> HTTPRequest {
        guard let name, let definition = try? accounts(of: name).definition,
            case .bearer(let source) = definition.scheme,
            let origin = HTTPOrigin(request.url),
            let place = source.places["\(origin.host):\(origin.port)"] ?? source.places[origin.host]
        else { return echoed?.added(to: request) ?? request }
        echoed?.begin(place)
        return place.moved(request)
    }
}

/// The token in the query of a redirect's `Location`, which only the redirected request has.
final class EchoedToken: Sendable {
    /// The name of the parameter of the last token with a place in the query, and its field in the last redirect.
    private let state = Mutex<(name: String?, field: String?)>((nil, nil))

    func begin(_ place: TokenPlace) {
        guard case .query(let name) = place else { return }
        state.withLock { $0 = (name, nil) }
    }

    /// Returns the request to which the last redirect leads, with the token of that redirect.
    func added(to request: HTTPRequest) -> HTTPRequest {
        guard let field = state.withLock({ $0.field.take() }), var url = WebURL(request.url) else { return request }
        url.query = [url.query, field].compactMap(\.self).joined(separator: "&")
        var request = request
        request.url = url.text
        return request
    }

    /// Takes the token out of a response's `Location`.
    func take(from headers: inout HTTPHeaders) {
        guard let location = headers["Location"], let name = state.withLock({ $0.name }),
            location.contains("\(name)=")
        else { return }
        guard var url = WebURL(location) else { return headers["Location"] = nil }
        let fields = url.query?.split(separator: "&") ?? []
        guard let field = fields.first(where: { $0.hasPrefix("\(name)=") }) else { return }
        let others = fields.filter { !$0.hasPrefix("\(name)=") }
        url.query = others.isEmpty ? nil : others.joined(separator: "&")
        headers["Location"] = url.text
        state.withLock { $0.field = String(field) }
    }
}

extension Credential.Scheme {
    var takesAnyValues: Bool {
        switch self {
        case .basic, .digest, .bearer: false
        case .custom, .component: true
        }
    }

    /// The names of the query parameters in which hosts expect the token.
    var tokenParameters: [String] {
        guard case .bearer(let source) = self else { return [] }
        return source.places.values.compactMap { if case .query(let name) = $0 { name } else { nil } }
    }
}

extension Credential: Concealing {
    /// The scheme and the hosts, without any secret.
    public var description: String { "\(scheme) for \(hosts.joined(separator: ", "))" }
}

extension Credential.Scheme: Concealing {
    /// The name of the scheme as in the manifest.
    public var description: String {
        switch self {
        case .basic: "basic"
        case .digest: "digest"
        case .bearer: "bearer"
        case .custom(let scheme): scheme.name
        case .component: "component"
        }
    }
}

/// A string that no description reveals, such as a password or a token.
///
/// ```swift
/// let password: Secret = "white whale"
/// print(password)  // …
/// ```
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text itself, for its intended use.
    public let revealed: String

    /// Creates a secret from a string.
    public init(_ text: String) { revealed = text }

    /// Creates a secret from a literal in the source, for tests and examples.
    public init(stringLiteral value: String) { revealed = value }
}

extension Secret: Concealing {
    /// An ellipsis, regardless of the text.
    public var description: String { "…" }
}

/// A value that contains secrets; descriptions and mirrors reveal no more than `description`.
public protocol Concealing: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Concealing {
    /// The description, so that printing a value for debugging does not reveal it.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPRequest {
    var hasUserInURL: Bool {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        return url[start...].prefix { !"/?#".contains($0) }.contains("@")
    }
}
