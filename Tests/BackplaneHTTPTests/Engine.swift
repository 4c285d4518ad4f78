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

    /// The rules of the conformance suite that URLSession does not follow.
    static let urlSessionExceptions: Set<String> = [
        "request fields of one name stay apart", "response fields keep their order and number",
        "an unread body is not received", "unrequested trailer fields do no harm",
        "a response that breaks off within its head is an error",
    ]
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }
}
