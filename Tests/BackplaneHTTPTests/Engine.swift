import BackplaneHTTP
import BackplaneNetwork
import BackplaneURLSession

/// The executors over a network that this build has; every suite runs through each.
enum Engine: CaseIterable, Sendable {
    #if Engines
    case asyncHTTPClient
    #endif
    case urlSession

    func executor(maximumBodySize: Int = 64 << 20) -> any HTTPExecutor {
        switch self {
        #if Engines
        case .asyncHTTPClient: AsyncHTTPClientExecutor(maximumBodySize: maximumBodySize)
        #endif
        case .urlSession: URLSessionExecutor(maximumBodySize: maximumBodySize)
        }
    }

    /// What FoundationNetworking cannot do (see ``URLSessionExecutor``).
    var keepsFieldsApart: Bool { self != .urlSession }
}
