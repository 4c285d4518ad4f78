import BackplaneNetwork

/// What a host or a program knows to prove to some servers who sends a request.
///
/// ```swift
/// let library = Credential(hosts: ["books.example.org"], .basic(Login(user: "ann", password: "white")))
/// ```
public struct Credential: Sendable, Hashable {
    /// The way of proving.
    public enum Scheme: Sendable, Hashable {
        /// A user with a password (RFC 7617), which are sent without a challenge if `isPreemptive`.
        case basic(Login, isPreemptive: Bool = true)
        /// A user with a password, of which a digest is sent (RFC 7616); it needs a ``BackplaneNetwork/ContentDigest``.
        case digest(Login)
        /// A token (RFC 6750).
        case bearer(TokenSource)
        /// A scheme of the program's own.
        case custom(AuthenticationScheme)
        /// A manager that provides ``BackplaneNetwork/Authenticating``, with values that it is given; in a host only.
        case component(_ manager: String, values: [String: Secret] = [:])
    }
    /// The hosts that are sent a proof: names in lower case, each for all ports, or `name:port`.
    public var hosts: [String]
    /// The way of proving.
    public var scheme: Scheme
    /// The managers whose components may use the credential; `nil` means all.
    public var managers: [String]?
    /// A Boolean value that indicates whether each account keeps the cookies of the hosts, in memory.
    public var hasCookies: Bool

    /// Creates a credential, by default for the components of all managers, and without cookies.
    public init(hosts: [String], _ scheme: Scheme, managers: [String]? = nil, hasCookies: Bool = false) {
        (self.hosts, self.scheme, self.managers, self.hasCookies) = (hosts, scheme, managers, hasCookies)
    }

    /// Returns whether a request may have the proof.
    func covers(_ request: HTTPRequest) -> Bool {
        guard let origin = HTTPOrigin(request.url) else { return false }
        return hosts.contains { $0 == origin.host || $0 == "\(origin.host):\(origin.port)" }
    }
}

/// A user with a password.
public struct Login: Sendable, Hashable {
    /// The user and the password, each `nil` if it is one of the values with which an account is signed in.
    public var user, password: Secret?

    /// Creates a login; what is not given are the values `user` and `password` of an account.
    public init(user: Secret? = nil, password: Secret? = nil) { (self.user, self.password) = (user, password) }
}

/// The origin of a bearer token: given, or asked for with a request.
public struct TokenSource: Sendable, Hashable {
    /// A token that does not change.
    public var secret: Secret?
    /// The request that is answered with a token.
    public var signIn: TokenRequest?
    /// The request that is answered with another token; without it, or if it is refused, the sign-in is repeated.
    public var refresh: TokenRequest?
    /// The JSON pointer (RFC 6901) of the token in an answer.
    public var token: String
    /// The JSON pointer of the time at which the token expires: the seconds until then, or since 1970, or a date.
    public var expires: String?
    /// The JSON pointer of the token for ``refresh``.
    public var refreshToken: String?
    /// A Boolean value that indicates whether tokens are kept in files across restarts.
    public var isKept: Bool

    /// Creates a source whose tokens are asked for, and by default not kept.
    public init(
        signIn: TokenRequest, refresh: TokenRequest? = nil, token: String, expires: String? = nil,
        refreshToken: String? = nil, isKept: Bool = false
    ) {
        (secret, self.signIn, self.refresh) = (nil, signIn, refresh)
        (self.token, self.expires, self.refreshToken, self.isKept) = (token, expires, refreshToken, isKept)
    }

    /// Creates a source with a token that does not change.
    public init(secret: Secret) {
        (self.secret, signIn, refresh, token, expires, refreshToken) = (secret, nil, nil, "", nil, nil)
        isKept = false
    }
}

extension Credential.Scheme {
    /// A Boolean value that indicates whether accounts are signed in with any values, which the scheme gives a meaning.
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
    /// The name of the scheme as the manifest has it.
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
