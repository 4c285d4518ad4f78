import Backplane
import BackplaneNetwork

/// The identity of a request, which all equal requests share.
///
/// Equal requests have the same method, URL, body, header and principal: the credential's account. Every field that may
/// identify a sender, such as `Authorization`, `Cookie` or an API key, counts as part of the sender.
struct RequestIdentity: Hashable, Sendable {
    /// The method, URL, body and principal, and the fields that may identify a sender.
    let sender: String
    /// The other fields, such as `Accept`.
    let selection: String
    /// The fields by which a cache answers with a part of a response or the status 304.
    let conditions: String
    private let address: String
    let isSafe: Bool

    var url: String { HTTPRequest("GET", address).printableURL }

    /// Creates the identity of a request; returns `nil` for one with a body that is not in memory.
    ///
    /// - Parameter principal: The text that identifies the sender beyond the request: the account's number, the
    ///   executor and the client certificate.
    init?(_ request: HTTPRequest, principal: String) {
        guard let body = request.body.bytes else { return nil }
        var sender = "\(principal) \(request.method) ", selection = "", conditions = ""
        sender += request.url.utf8.contains(UInt8(ascii: "#")) ? String(request.url.prefix { $0 != "#" }) : request.url
        for field in request.headers.fields {
            let name = field.name.lowercased()
            if name == "traceparent" || name == "tracestate" { continue }
            if CachedResponse.conditions.contains(name) {
                conditions += "\(name):\(field.value)\n"
            } else if HTTPHeaders.isForAnyone(name) {
                selection += "\(name):\(field.value)\n"
            } else {
                sender += "\n\(name):\(field.value)"
            }
        }
        if let type = request.body.mediaType { sender += "\n\(type)" }
        if !body.isEmpty { sender += "\n\n" + ContentDigest.sha256(of: body).hexadecimal }
        (self.sender, self.selection, self.conditions) = (sender, selection, conditions)
        (address, isSafe) = (request.url, EqualRequests.standard(for: request.method) == .coalesce)
    }
}

/// The identity of an exchange that equal requests may share: the request's identity, and the options that vary a
/// result.
struct ExchangeIdentity: Hashable, Sendable {
    let request: RequestIdentity
    private let executor, endpoint: String?
    private let redirects, attempt: Int
    private let decompresses, refreshes: Bool
    private let limit: Int?
    private let retry: RetryPolicy?
    private let cache: CachePolicy
    private let tags: [String]
    /// The folder with mocks of the sender's plugin, or an empty string, if a mock answers; `nil` otherwise.
    private let mocks: String?

    init(_ request: RequestIdentity, _ options: HTTPOptions, isSubstituted: Bool) {
        self.request = request
        mocks = isSubstituted ? options.mockFolder ?? "" : nil
        (executor, endpoint, redirects, attempt) = (
            options.executor, options.endpoint, options.redirects, options.attempt
        )
        (decompresses, refreshes, limit) = (options.decompresses, options.refreshes, options.maximumBodySize)
        (retry, cache, tags) = (options.retry, options.cache, options.cacheTags)
    }
}

extension HTTPPipeline {
    /// Returns the identity of a request whose response may be shared or stored; `nil` if it may not.
    ///
    /// - Throws: `network.credential` if there is no such credential, or the account is not signed in.
    func identity(of request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) -> RequestIdentity? {
        // Interceptors of one client may identify it to the server.
        guard options.isWhole, !options.isSignIn, request.scheme != "file", options.interceptors.isEmpty else {
            return nil
        }
        var principal: UInt64 = 0
        if let name = options.credential {
            principal = try credentials.accounts(of: name).account(options.account ?? "").principal
        }
        let parts = ["\(principal)", options.executor ?? "", options.tls?.certificate ?? ""]
        return RequestIdentity(request, principal: parts.joined(separator: " "))
    }
}
