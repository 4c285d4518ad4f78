import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneURLSession

/// The executors over a network; every suite runs through each.
enum Engine: CaseIterable, Sendable {
    case asyncHTTPClient
    case urlSession

    func executor() -> any HTTPExecutor {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientExecutor(proxies: .none)
        case .urlSession: URLSessionExecutor()
        }
    }

    /// What FoundationNetworking cannot do (see ``URLSessionExecutor``).
    var keepsFieldsApart: Bool { self != .urlSession }
}
