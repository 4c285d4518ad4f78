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
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }
}
