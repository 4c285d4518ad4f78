package import Backplane
public import BackplaneNetwork

/// A custom authentication scheme of a program.
///
/// ```swift
/// let signing = AuthenticationScheme("signing", digests: true) { request in
///     ["Authorization": "Signature \(signature(of: request))"]
/// }
/// let library = Credential(hosts: ["books.example.org"], .custom(signing))
/// ```
///
/// Two schemes are equal if one is a copy of the other.
public struct AuthenticationScheme: Sendable, Hashable {
    /// An account of the credential.
    public struct Account: Sendable {
        /// The name; empty for the account that needs no sign-in.
        public var name: String
        /// The opaque number that identifies the account's sign-in.
        public var principal: UInt64
        /// The values of the credential and of the sign-in.
        public var values: [String: Secret]
    }
    typealias Make = @Sendable (Account) throws -> any Authenticator
    private final class Identity: Sendable {}

    /// The name in errors and descriptions.
    public let name: String
    let make: Make
    private let identity = Identity()

    /// Creates a scheme from two functions.
    ///
    /// - Parameters:
    ///   - name: The name used in errors.
    ///   - digests: A Boolean value that indicates whether requests include the digest of their body. If so, a body
    ///     that can be sent only once causes the exchange to fail.
    ///   - prepare: A function that returns the fields with the credentials, or none unless the server is known to
    ///     require them.
    ///   - answer: A function that returns the fields with new credentials after a response with the status 401, or
    ///     none to accept that response as the result.
    public init(
        _ name: String, digests: Bool = false,
        prepare: @escaping @Sendable (AuthenticatedRequest) async throws -> HTTPHeaders,
        answer: @escaping @Sendable (AuthenticatedRequest) async throws -> HTTPHeaders = { _ in [:] }
    ) {
        let ready = SchemeAuthenticator.Ready(digests: digests, prepare: prepare, answer: answer)
        self.init(name: name) { account in SchemeAuthenticator(name, account) { _ in ready } }
    }

    /// Returns a scheme whose authenticators, one for each account, are created by a function.
    public static func authenticators(
        _ name: String, _ make: @escaping @Sendable (Account) throws -> any Authenticator
    ) -> AuthenticationScheme {
        AuthenticationScheme(name: name, make: make)
    }

    private init(name: String, make: @escaping Make) { (self.name, self.make) = (name, make) }

    public static func == (a: AuthenticationScheme, b: AuthenticationScheme) -> Bool { a.identity === b.identity }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

/// The authenticator of an account with a custom scheme: functions of a program or of a plugin's manager.
package final class SchemeAuthenticator: Authenticator {
    /// The functions of the scheme for one request.
    package struct Ready: Sendable {
        var digests: Bool
        var prepare: @Sendable (AuthenticatedRequest) async throws -> HTTPHeaders
        var answer: @Sendable (AuthenticatedRequest) async throws -> HTTPHeaders

        package init(
            digests: Bool, prepare: @escaping @Sendable (AuthenticatedRequest) async throws -> HTTPHeaders,
            answer: @escaping @Sendable (AuthenticatedRequest) async throws -> HTTPHeaders
        ) {
            (self.digests, self.prepare, self.answer) = (digests, prepare, answer)
        }
    }
    /// A function that returns the functions of a manager, by its name.
    package typealias Find = @Sendable (_ manager: String, Call) async throws -> Ready

    private let name: String
    private let account: AuthenticationScheme.Account
    private let ready: @Sendable (Call) async throws -> Ready

    init(
        _ name: String, _ account: AuthenticationScheme.Account,
        ready: @escaping @Sendable (Call) async throws -> Ready
    ) {
        (self.name, self.account, self.ready) = (name, account, ready)
    }

    package func prepare(
        _ request: HTTPRequest, _ call: Call, over network: HTTPPipeline
    ) async throws -> HTTPRequest {
        try await proved(request, call) { ready, head in try await ready.prepare(head) } ?? request
    }

    package func mayAnswer(_ response: HTTPResponse, to sent: HTTPRequest, failures: Int) -> Bool {
        response.status == 401
    }

    package func answer(
        _ response: HTTPResponse, for request: HTTPRequest, sent: HTTPRequest, failures: Int, _ call: Call,
        over network: HTTPPipeline
    ) async throws -> HTTPRequest? {
        let proof = sent.headers.filter { request.headers[$0] == nil }
        return try await proved(request, call) { ready, head in
            var head = head
            head.meet(response, failures: failures, proof: proof)
            return try await ready.answer(head)
        }
    }

    /// Returns the request with the fields that a function returns; `nil` if there are none.
    private func proved(
        _ request: HTTPRequest, _ call: Call, _ fields: (Ready, AuthenticatedRequest) async throws -> HTTPHeaders
    ) async throws -> HTTPRequest? {
        do {
            let ready = try await ready(call)
            var request = request, text: String?
            if ready.digests {
                // The hashed bytes are the ones that are sent, even if the body is a file that changes.
                if !request.body.isEmpty {
                    guard request.body.isReplayable else { throw BackplaneError.digestOfStream }
                    request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit)
                }
                text = try await request.body.digestText()
            }
            let head = AuthenticatedRequest(
                request, digest: text, account: account.name, principal: account.principal,
                values: account.values.mapValues(\.revealed))
            let fields = try await fields(ready, head)
            guard !fields.fields.isEmpty else { return nil }
            try AddedFields.add(fields, to: &request.headers, areProof: true)
            return request
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw BackplaneError(thrown: error).ofAuthenticator(name, at: request.printableURL)
        }
    }
}

extension BackplaneError {
    fileprivate func ofAuthenticator(_ name: String, at url: String) -> BackplaneError {
        if [.callCancelled, .callDeadline].contains(code) { return self }
        if code.rawValue.hasPrefix("network.") {
            var error = self
            (error.message, error.location) = ("the authenticator `\(name)`: \(message)", location ?? url)
            return error
        }
        return BackplaneError(
            .networkSignIn, "the authenticator `\(name)` failed: \(message)", at: url, causes: [self])
    }
}
