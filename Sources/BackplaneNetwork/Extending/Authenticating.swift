public import Backplane

/// The contract of a manager that authenticates requests to servers with its own scheme.
///
/// A credential of the type `component` in the manifest names the manager, which receives heads but not bodies, and the
/// values of the credential and its accounts. If the manager fails, the exchange fails.
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.digests) { _, _, _ in true }
///     table.async(\.prepare) { signer, request, _ in [["Authorization", signer.signature(of: request)]] }
///     table.async(\.answer) { _, _, _ in [] }
/// }
/// ```
public struct Authenticating: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns whether requests contain the digest of their body, which must then be replayable.
    public let digests = AsyncMethod<Nothing, Bool>()
    /// Returns the names and values of the credential fields; none unless credentials are known to be required.
    ///
    /// A field that the request already has is an error, and so is one that frames the message.
    public let prepare = AsyncMethod<AuthenticatedRequest, [[String]]>()
    /// Returns new credential fields after a response with the status 401; none if that response is the result.
    public let answer = AsyncMethod<AuthenticatedRequest, [[String]]>()

    /// Creates the contract.
    public init() {}
}

/// The head of a request for an authenticator, with the account that sends it.
public struct AuthenticatedRequest: Codable, Sendable {
    /// The request method, such as `GET`.
    public var method: String
    /// The absolute URL, with its query.
    public var url: String
    /// The names and values of the header fields in order, without credentials.
    public var headers: [[String]]
    /// The SHA-256 of the body in lower-case hexadecimal digits; `nil` unless the authenticator requests it.
    public var digest: String?
    /// The name of the account; empty for the account that needs no sign-in.
    public var account: String
    /// The principal: the opaque number of the account's sign-in.
    public var principal: UInt64
    /// The values of the credential, and those with which the account was signed in.
    public var values: [String: String]
    /// The number of requests of this exchange that were not accepted; 0 in `prepare`.
    public var failures: Int
    /// The names and values of the credential fields that were sent last; none in `prepare`.
    public var proof: [[String]]
    /// The status of the response to answer; `nil` in `prepare`.
    public var status: Int?
    /// The names and values of the header fields of the response to answer, such as its challenges.
    public var responseHeaders: [[String]]

    package init(
        _ request: HTTPRequest, digest: String?, account: String, principal: UInt64, values: [String: String]
    ) {
        (method, url, headers, self.digest) = (request.method, request.url, request.headers.pairs, digest)
        (self.account, self.principal, self.values) = (account, principal, values)
        (failures, proof, status, responseHeaders) = (0, [], nil, [])
    }

    package mutating func meet(_ response: HTTPResponse, failures: Int, proof: HTTPHeaders) {
        (status, responseHeaders) = (response.status, response.headers.pairs)
        (self.failures, self.proof) = (failures, proof.pairs)
    }

    /// The header fields of the response to answer; those without a name and a value are omitted.
    public var challenge: HTTPHeaders {
        var fields: HTTPHeaders = [:]
        for pair in responseHeaders where pair.count == 2 { fields.add(pair[0], pair[1]) }
        return fields
    }
}

extension AuthenticatedRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the URL without its query, without values or credentials.
    public var description: String { "\(method) \(HTTPRequest(method, url).printableURL)" }

    /// A mirror without children, so that `dump` shows the description alone.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
