public import BackplaneNetwork

/// The settings of a pool: the limits for concurrent transfers, and those of each exchange.
public struct TransferOptions: Sendable {
    /// The maximum number of concurrent transfers.
    public var concurrent = 16
    /// The maximum number of concurrent transfers with one host.
    public var concurrentPerHost = 6
    /// The retry policy of a transfer; a download continues where the last attempt ended.
    ///
    /// An attempt that received 64 KB resets the count, except for restarts. An upload is attempted again only if its
    /// method is idempotent, or the policy allows any method.
    public var retry = RetryPolicy(attempts: 5)
    /// The maximum number of redirects that an exchange follows.
    public var redirects = 10
    /// The time without a byte in either direction after which an attempt ends.
    public var idleLimit: Duration = .seconds(60)

    /// Creates settings with 16 concurrent transfers, 6 for each host, 5 attempts and an idle limit of a minute.
    public init() {}

    /// The options of a download's exchange.
    func exchange(_ transfer: Transfer) -> HTTPOptions {
        var options = transfer.exchange
        (options.redirects, options.headTimeout, options.readTimeout) = (redirects, idleLimit, idleLimit)
        return options
    }
}

extension HTTPRequest {
    /// Returns the request of a download, for the whole file or a part of it, without content coding.
    func asking(for part: DownloadMachine.PartAsked?) -> HTTPRequest {
        var request = self
        // Positions in a compressed representation do not correspond to positions in the file.
        if headers["Accept-Encoding"] == nil { request.headers.add("Accept-Encoding", "identity") }
        guard let part else { return request }
        request.headers["Range"] = "bytes=\(part.from)-"
        request.headers["If-Range"] = part.validator
        return request
    }
}
