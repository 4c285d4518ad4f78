public import Backplane
import BackplaneNetwork
package import FoundationEssentials
import Synchronization

/// The credentials of a pipeline, keyed by name, with their signed-in accounts.
///
/// ```swift
/// let credentials = Credentials(["library": Credential(hosts: ["books.example.org"], .basic(login))])
/// let http = HTTPClient(HTTPPipeline([executor], credentials: credentials))
/// ```
///
/// A request chooses a credential with `HTTPOptions.credential`. Copies share the accounts. A program with a single
/// credential need not name it; it is sent with every request to its hosts:
///
/// ```swift
/// let http = HTTPClient([executor], credentials: .basic("ann", password, for: "books.example.org"))
/// ```
public struct Credentials: Sendable {
    private let accounts: [String: CredentialAccounts]
    /// The name of the single credential, which requests to its hosts use by default; `nil` if there is none.
    private var single: String?
    package var refusesManagers = false
    /// The names of the query parameters in which hosts expect tokens.
    let tokenParameters: Set<String>

    fileprivate init(_ accounts: [String: CredentialAccounts]) {
        self.accounts = accounts
        tokenParameters = Set(accounts.values.flatMap(\.definition.scheme.tokenParameters))
    }

    /// Creates credentials whose accounts are not shared with others.
    ///
    /// - Parameters:
    ///   - definitions: The credentials by name.
    ///   - folder: The folder in which tokens are stored, which must exist; `nil` if none are stored.
    public init(_ definitions: [String: Credential] = [:], keptIn folder: String? = nil) {
        var kept: (@Sendable () throws(BackplaneError) -> String)?
        if let folder { kept = { () throws(BackplaneError) in folder } }
        let vault = CredentialVault(keptIn: kept)
        self = vault.credentials(definitions)
    }

    /// Returns the credential of a user (RFC 7617), which is sent without a challenge with every request to the hosts.
    ///
    /// - Parameter hosts: The names of the hosts, each for all ports, or `name:port`, or the URL of a server.
    public static func basic(_ user: String, _ password: Secret, for hosts: String...) -> Credentials {
        Credentials(single: .basic(Login(user: Secret(user), password: password)), for: hosts)
    }

    /// Returns the credential of a user, which is sent as a digest (RFC 7616) with every request to the hosts.
    public static func digest(_ user: String, _ password: Secret, for hosts: String...) -> Credentials {
        Credentials(single: .digest(Login(user: Secret(user), password: password)), for: hosts)
    }

    /// Returns the credential of a fixed bearer token (RFC 6750), which is sent with every request to the hosts.
    public static func bearer(_ token: Secret, for hosts: String...) -> Credentials {
        Credentials(single: .bearer(TokenSource(secret: token)), for: hosts)
    }

    /// Returns the credential of a bearer token from a function, which is sent with every request to the hosts.
    ///
    /// ```swift
    /// let http = HTTPClient([executor], credentials: .bearer(for: "books.example.org") { try await session.token() })
    /// ```
    ///
    /// - Parameter token: A function that returns a token; see ``TokenSource/init(_:)``.
    public static func bearer(
        for hosts: String..., token: @escaping @Sendable () async throws -> String
    ) -> Credentials {
        Credentials(single: .bearer(TokenSource(token)), for: hosts)
    }

    private init(single scheme: Credential.Scheme, for hosts: [String]) {
        let names = hosts.map { host in HTTPOrigin(host).map { "\($0.host):\($0.port)" } ?? host }
        let name = names.joined(separator: ", ")
        self.init([name: Credential(hosts: names, scheme)])
        single = name
    }

    var isSingle: Bool { single != nil }

    /// Returns the options with the single credential, if they choose none and the request may carry it.
    func chosen(for request: HTTPRequest, _ options: HTTPOptions) -> HTTPOptions {
        guard let single, options.credential == nil, options.account == nil, !options.hasNoCredential,
            !options.isSignIn, request.authorization == nil, !request.hasUserInURL, covers(single, request)
        else { return options }
        var options = options
        options.credential = single
        return options
    }

    package var names: [String] { accounts.keys.sorted() }

    func accounts(of name: String) throws(BackplaneError) -> CredentialAccounts {
        if let accounts = accounts[name] { return accounts }
        let names = names.map { "`\($0)`" }.joined(separator: ", ")
        throw BackplaneError(
            .networkCredential,
            "there is no credential `\(name.prefix(100))`; \(names.isEmpty ? "none is configured" : "known: \(names)")")
    }

    /// Checks that an exchange may use a credential; refuses it if its authenticating manager might wait for the
    /// exchange.
    func requirePassable(_ accounts: CredentialAccounts) throws(BackplaneError) {
        guard refusesManagers, case .component(let manager, _) = accounts.definition.scheme else { return }
        throw BackplaneError(
            .networkCredential,
            "requests that executors and authenticators send themselves cannot use the credential "
                + "`\(accounts.name)`, which needs the manager `\(manager)`; the two might wait for each other; "
                + "nothing was sent")
    }

    package func require(_ name: String, for managers: [String]) throws(BackplaneError) {
        guard let allowed = try accounts(of: name).definition.managers, !managers.contains(where: allowed.contains)
        else { return }
        throw BackplaneError(
            .networkCredential,
            "the credential `\(name)` is not for components of \(managers.joined(separator: ", ")); name the manager in its `managers`"
        )
    }

    func covers(_ name: String, _ request: HTTPRequest) -> Bool {
        accounts[name]?.definition.covers(request) ?? false
    }
}

extension Credentials: Concealing {
    /// The names of the credentials.
    public var description: String { names.joined(separator: ", ") }
}

/// The accounts of all credentials of a host, which survive changes of its manifest.
///
/// Manifests that define a credential identically share its accounts, as long as one of the manifests is in use.
package final class CredentialVault: Sendable {
    private struct Key: Hashable {
        let name: String
        let definition: Credential
    }
    private struct Place {
        weak var accounts: CredentialAccounts?
    }
    private let kept: KeptTokens?
    private let find: SchemeAuthenticator.Find?
    private let date: @Sendable () -> Date
    private let signIns = SignInObserver()
    private let places = Mutex<[Key: Place]>([:])

    package init(
        keptIn folder: (@Sendable () throws(BackplaneError) -> String)? = nil,
        find: SchemeAuthenticator.Find? = nil, date: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.find, self.date) = (find, date)
        kept = folder.map { KeptTokens(folder: $0) }
    }

    package func observeSignIns(_ observer: @escaping @Sendable (String, String) -> Void) { signIns.set(observer) }

    package func credentials(_ definitions: [String: Credential]) -> Credentials {
        places.withLock { places in
            places = places.filter { $0.value.accounts != nil }
            var accounts: [String: CredentialAccounts] = [:]
            for (name, definition) in definitions {
                let key = Key(name: name, definition: definition)
                let known =
                    places[key]?.accounts
                    ?? CredentialAccounts(name, definition, kept, find, date: date, signIns: signIns)
                places[key] = Place(accounts: known)
                accounts[name] = known
            }
            return Credentials(accounts)
        }
    }
}

extension HTTPPipeline {
    /// Signs in an account of a credential, replacing the one with the same name.
    ///
    /// - Returns: The principal: an opaque number that changes with each sign-in.
    /// - Throws: `network.credential` if there is no such credential, or it requires other values; `network.sign-in` if
    ///   the server returns no token; other codes of the network; `call.cancelled`.
    @discardableResult
    public func signIn(
        _ credential: String, as account: String, with values: [String: String]
    ) async throws(BackplaneError) -> UInt64 {
        let accounts = try credentials.accounts(of: credential)
        do {
            return try await accounts.signIn(account, with: values.mapValues { Secret($0) }, over: self)
        } catch {
            throw error is CancellationError
                ? BackplaneError(.callCancelled, "the sign-in was cancelled") : BackplaneError(thrown: error)
        }
    }

    /// Signs out an account of a credential; does nothing if it is not signed in.
    ///
    /// - Throws: `network.credential` if there is no such credential; `network.file` if a stored token cannot be
    ///   removed.
    public func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try credentials.accounts(of: credential).signOut(account)
    }

    /// Returns the stage for the credential chosen by the options; `nil` if they choose none.
    func credentialStage(
        around next: @escaping ExchangeRun.Send, _ options: HTTPOptions
    ) throws(BackplaneError) -> CredentialStage? {
        guard let name = options.credential else {
            guard options.account == nil else {
                throw BackplaneError(
                    .networkCredential, "the request specifies an account, but not its credential; specify both")
            }
            return nil
        }
        let accounts = try credentials.accounts(of: name)
        try credentials.requirePassable(accounts)
        let account = try accounts.account(options.account ?? "")
        return CredentialStage(
            next: next, credential: accounts.definition, name: name, authenticator: account.authenticator,
            jar: account.jar,
            network: self)
    }
}
