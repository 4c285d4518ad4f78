public import Backplane

/// The contract of a manager that authenticates requests to servers with its own scheme.
///
/// A credential of the type `component` in the manifest names the manager. The manager receives heads but not bodies,
/// and the values of the credential and its accounts. If the manager fails, the exchange fails.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.digests) { _, _, _ in true }
///     table.async(\.prepare) { signer, request, _ in ["Authorization": signer.signature(of: request)] }
///     table.async(\.answer) { _, _, _ in [:] }
/// }
/// ```
public struct Authenticating: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns whether requests contain the digest of their body, which must then be replayable.
    public let digests = AsyncMethod<Nothing, Bool>()
    /// Returns the credential fields; none if it is not known whether the server requires credentials.
    ///
    /// A field that the request already has is an error, and so is a field that frames the message.
    public let prepare = AsyncMethod<AuthenticatedRequest, HTTPHeaders>()
    /// Returns new credential fields after a response with the status 401; none if that response is the result.
    public let answer = AsyncMethod<AuthenticatedRequest, HTTPHeaders>()

    /// Creates the contract.
    public init() {}
}

/// The head of a request for an authenticator, with the account that sends it.
public struct AuthenticatedRequest: Codable, Sendable {
    /// The request method, such as `GET`.
    public var method: String
    /// The absolute URL, with its query.
    public var url: String
    /// The header fields, without credentials.
    public var headers: HTTPHeaders
    /// The SHA-256 of the body in lower-case hexadecimal digits; `nil` unless the authenticator requests it.
    public var digest: String?
    /// The name of the account; empty for the account that needs no sign-in.
    public var account: String
    /// The principal: the opaque number of the account's sign-in.
    public var principal: UInt64
    /// The values of the credential and of the account's sign-in.
    public var values: [String: String]
    /// The number of requests of this exchange that were not accepted; 0 in `prepare`.
    public var failures: Int
    /// The credential fields that were sent last; none in `prepare`.
    public var proof: HTTPHeaders
    /// The status of the response to answer; `nil` in `prepare`.
    public var status: Int?
    /// The header fields of the response to answer, such as its challenges.
    public var responseHeaders: HTTPHeaders

    package init(
        _ request: HTTPRequest, digest: String?, account: String, principal: UInt64, values: [String: String]
    ) {
        (method, url, headers, self.digest) = (request.method, request.url, request.headers, digest)
        (self.account, self.principal, self.values) = (account, principal, values)
        (failures, proof, status, responseHeaders) = (0, [:], nil, [:])
    }

    package mutating func meet(_ response: HTTPResponse, failures: Int, proof: HTTPHeaders) {
        (status, responseHeaders) = (response.status, response.headers)
        (self.failures, self.proof) = (failures, proof)
    }
}

extension AuthenticatedRequest: CustomStringConvertible, CustomReflectable {
    /// The method, and the URL without its query; no values or credentials.
    public var description: String { "\(method) \(HTTPRequest(method, url).printableURL)" }

    /// A mirror without children, so that `dump` shows the description alone.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
