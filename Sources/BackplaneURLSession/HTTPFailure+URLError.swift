import BackplaneExchange
import Foundation
import FoundationNetworking

extension HTTPFailure {
    /// Creates the failure that corresponds to an error of URLSession, as far as Foundation on Linux distinguishes
    /// them.
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self = .other("\(error)")
            return
        }
        let reason = error.localizedDescription
        self =
            switch error.code {
            case .cannotFindHost: .hostUnknown
            case .cannotConnectToHost: .notConnected
            case .timedOut: .connectionTimedOut
            case .networkConnectionLost, .badServerResponse: .closed  // "Empty reply from server"
            // The text of libcurl's error, for which Foundation has no code.
            case .unknown where reason.hasPrefix("transfer closed"): .closed
            case .unsupportedURL: .malformed(reason)  // concerns the response, since the URL's scheme is supported
            case .unknown where reason.contains("SSL"):  // the same; what counts is at the end
                .insecure(reason.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? reason)
            case .cancelled: .shutDown
            default: .other(reason)
            }
    }
}
