import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneURLSession

/// The executors over a network that this build has; every suite runs through each.
enum Engine: CaseIterable, Sendable {
    #if Engines
    case asyncHTTPClient
    #endif
    case urlSession

    func executor() -> any HTTPExecutor {
        switch self {
        #if Engines
        case .asyncHTTPClient: AsyncHTTPClientExecutor(proxies: .none)
        #endif
        case .urlSession: URLSessionExecutor()
        }
    }
}
