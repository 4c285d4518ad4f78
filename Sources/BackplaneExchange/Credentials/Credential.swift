import BackplaneNetwork

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

    /// Returns whether a request may carry the credentials.
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

/// The source of a bearer token: a fixed token, or a request.
public struct TokenSource: Sendable, Hashable {
    /// The fixed token.
    public var secret: Secret?
    /// The request for the first token.
    public var signIn: TokenRequest?
    /// The request for another token; without it, or if it is rejected, the sign-in is repeated.
    public var refresh: TokenRequest?
    /// The JSON pointer (RFC 6901) of the token in a response.
    public var token: String
    /// The JSON pointer of the token's expiry: the number of seconds until then, the seconds since 1970, or a date.
    public var expires: String?
    /// The JSON pointer of the token for ``refresh``.
    public var refreshToken: String?
    /// A Boolean value that indicates whether tokens are stored in files across restarts.
    public var isKept: Bool

    /// Creates a source that requests its tokens, and by default does not store them.
    public init(
        signIn: TokenRequest, refresh: TokenRequest? = nil, token: String, expires: String? = nil,
        refreshToken: String? = nil, isKept: Bool = false
    ) {
        (secret, self.signIn, self.refresh) = (nil, signIn, refresh)
        (self.token, self.expires, self.refreshToken, self.isKept) = (token, expires, refreshToken, isKept)
    }

    /// Creates a source with a fixed token.
    public init(secret: Secret) {
        (self.secret, signIn, refresh, token, expires, refreshToken) = (secret, nil, nil, "", nil, nil)
        isKept = false
    }
}

extension Credential.Scheme {
    /// A Boolean value that indicates whether accounts are signed in with arbitrary values, which the scheme
    /// interprets.
    var takesAnyValues: Bool {
        switch self {
        case .basic, .digest, .bearer: false
        case .custom, .component: true
        }
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
