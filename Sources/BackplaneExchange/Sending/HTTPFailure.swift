package import Backplane
package import BackplaneNetwork

/// The reason why there was no response, with messages that are shared by all network executors.
package enum HTTPFailure: Error, Hashable {
    case hostUnknown
    case notConnected
    case connectionTimedOut
    /// A secure connection was not possible: the certificate is not trusted, or the server does not support TLS.
    case insecure(String)
    /// The server has a trusted certificate with the given key, which is not pinned.
    case pinMismatch(String, isReported: Bool)
    /// The server's key was not compared with the pins, which are only reported.
    case pinsNotCompared(String)
    /// The connection was closed before the response was complete.
    case closed
    case malformed(String)
    case tooLarge(limit: Int)
    /// Decoding expands the compressed content beyond the limit.
    case inflated(ratio: Int)
    case shutDown
    /// A time limit passed before the host completed a step.
    case late(String, limit: Duration)
    case unwritable(String, path: String)
    case other(String)

    /// Returns the error for a request, which names the host and the reason and contains no secrets.
    package func error(for request: HTTPRequest) -> BackplaneError {
        let host = request.authority
        let (code, message): (BackplaneError.Code, String) =
            switch self {
            case .hostUnknown: (.networkFailed, "the host name \(host) cannot be resolved")
            case .notConnected: (.networkFailed, "\(host) refused the connection; is the server running?")
            case .connectionTimedOut: (.networkFailed, "\(host) did not accept the connection in time")
            case .insecure(let reason):
                (.networkInsecure, "no secure connection to \(host) could be established: \(reason)")
            case .pinMismatch(let key, let isReported):
                (
                    .networkPinMismatch,
                    "the server of \(host) has the key \(key), which is not pinned; "
                        + (isReported
                            ? "mismatches are only reported, and the exchange continues"
                            : "no request was sent; if the server's key has been replaced, add its pin")
                )
            case .pinsNotCompared(let reason):
                (
                    .networkInsecure,
                    "the key of \(host) was not compared with its pins, which are only reported: \(reason)"
                )
            case .closed: (.networkFailed, "\(host) closed the connection before the response was complete")
            case .malformed(let reason): (.networkMalformed, "the response of \(host) is not HTTP: \(reason)")
            case .tooLarge(let limit):
                (
                    .networkTooLarge,
                    "the response body of \(host) has more than \(limit) bytes, which is the limit for bodies in memory"
                )
            case .inflated(let ratio):
                (
                    .networkTooLarge,
                    "decoding the compressed body of \(host) makes it more than \(ratio) times as large, which is the limit"
                )
            case .shutDown:
                (
                    .networkShutDown,
                    "the exchange with \(host) was not completed: the executor has been shut down"
                )
            case .late(let what, let limit): (.networkTimeout, "\(host) \(what) within \(limit)")
            case .unwritable(let reason, _): (.networkFile, reason)
            case .other(let reason): (.networkFailed, "the exchange with \(host) failed: \(reason)")
            }
        let location = if case .unwritable(_, let path) = self { path } else { request.printableURL }
        return BackplaneError(code, message, at: location)
    }
}
