package import Backplane

/// The reason why there was no response, with the messages that all executors over a network share.
package enum HTTPFailure: Error, Hashable {
    case hostUnknown
    /// The server accepts no connections.
    case notConnected
    case connectionTimedOut
    /// No secure connection was possible: the certificate is not trusted, or the server has no TLS.
    case insecure(String)
    /// The connection was closed before the response was complete.
    case closed
    /// The response is not HTTP.
    case malformed(String)
    case tooLarge(limit: Int)
    case shutDown
    case other(String)

    /// Returns the error of a request, which names the host and the reason and contains no secrets.
    package func error(for request: HTTPRequest) -> BackplaneError {
        let host = request.authority
        let (code, message): (BackplaneError.Code, String) =
            switch self {
            case .hostUnknown: (.networkFailed, "no host of the name \(host) is known")
            case .notConnected: (.networkFailed, "\(host) accepts no connection; is the server running?")
            case .connectionTimedOut: (.networkFailed, "\(host) accepted no connection in time")
            case .insecure(let reason): (.networkFailed, "there is no secure connection to \(host): \(reason)")
            case .closed: (.networkFailed, "\(host) closed the connection before the response was whole")
            case .malformed(let reason): (.networkFailed, "what \(host) answered is not HTTP: \(reason)")
            case .tooLarge(let limit):
                (.networkTooLarge, "the body that \(host) sends has more than \(limit) bytes, which are held in memory")
            case .shutDown:
                (.networkFailed, "nothing was asked of \(host), or no longer: the executor has been shut down")
            case .other(let reason): (.networkFailed, "the exchange with \(host) failed: \(reason)")
            }
        return BackplaneError(code, message, at: request.printableURL)
    }
}
