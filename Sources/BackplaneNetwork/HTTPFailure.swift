package import Backplane

/// Why there was no response, in the words that every executor over a network uses.
package enum HTTPFailure: Error, Hashable {
    case hostUnknown
    /// Nothing listens there.
    case notConnected
    case connectionTimedOut
    /// No secure connection: a certificate that is not trusted, or no TLS at all.
    case insecure(String)
    /// Broken off before the response was whole.
    case closed
    /// What came is not HTTP.
    case malformed(String)
    case tooLarge(limit: Int)
    case shutDown
    case other(String)

    /// The error of a request: it names the host and the reason, and prints nothing secret.
    package func error(for request: HTTPRequest) -> BackplaneError {
        let host = request.authority
        let (code, message): (BackplaneError.Code, String) = switch self {
        case .hostUnknown: (.networkFailed, "no host of the name \(host) is known")
        case .notConnected: (.networkFailed, "\(host) accepts no connection; is the server running?")
        case .connectionTimedOut: (.networkFailed, "\(host) accepted no connection in time")
        case .insecure(let reason): (.networkFailed, "there is no secure connection to \(host): \(reason)")
        case .closed: (.networkFailed, "\(host) closed the connection before the response was whole")
        case .malformed(let reason): (.networkFailed, "what \(host) answered is not HTTP: \(reason)")
        case .tooLarge(let limit): (.networkTooLarge, "the body that \(host) sends has more than \(limit) bytes, which are held in memory")
        case .shutDown: (.networkFailed, "nothing was asked of \(host), or no longer: the executor has been shut down")
        case .other(let reason): (.networkFailed, "the exchange with \(host) failed: \(reason)")
        }
        return BackplaneError(code, message, at: request.printableURL)
    }
}
