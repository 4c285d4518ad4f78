public import BackplaneNetwork

/// The settings of a pool: how many transfers run at once, and how each of them treats its server.
public struct TransferOptions: Sendable {
    /// The greatest number of transfers that run at once.
    public var concurrent = 16
    /// The greatest number of those with one host.
    public var concurrentPerHost = 6
    /// The rules for further attempts of a transfer; a download goes on where the last one ended.
    ///
    /// An attempt that brought 64 KB begins the count anew.
    public var retry = RetryPolicy(attempts: 5)
    /// The greatest number of redirects that an exchange follows.
    public var redirects = 10
    /// The time without a byte, in either direction, after which an exchange fails.
    public var idleLimit: Duration = .seconds(60)

    /// Creates settings: 16 transfers at once, 6 of them with one host, 5 attempts, a minute without a byte.
    public init() {}

    /// The options of a download's exchange.
    func exchange(_ transfer: Transfer) -> HTTPOptions {
        var options = transfer.exchange
        (options.redirects, options.headTimeout, options.readTimeout) = (redirects, idleLimit, idleLimit)
        return options
    }
}

extension HTTPRequest {
    /// Returns the request as a download sends it: for the file's own bytes, and all or some of them.
    func asking(for part: DownloadMachine.PartAsked?) -> HTTPRequest {
        var request = self
        // The bytes of a compressed form have no place in the file.
        if headers["Accept-Encoding"] == nil { request.headers.add("Accept-Encoding", "identity") }
        guard let part else { return request }
        request.headers["Range"] = "bytes=\(part.from)-"
        request.headers["If-Range"] = part.validator
        return request
    }
}
