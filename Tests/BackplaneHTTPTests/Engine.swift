import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
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

extension TestClock {
    /// Runs `body`, in which something does not end: limits of exactly these lengths pass whenever there is one.
    func passing<Value>(_ limits: Duration..., body: () async throws -> Value) async rethrows -> Value {
        let time = limits.map { limit in Task { while !Task.isCancelled { try await expire(limit) } } }
        // Afterwards no limit passes any more.
        func stop() async {
            for task in time {
                task.cancel()
                _ = await task.result
            }
        }
        do {
            let value = try await body()
            await stop()
            return value
        } catch {
            await stop()
            throw error
        }
    }
}

extension [UInt8] {
    /// Returns bytes that repeat with a period that differs from the size of any buffer.
    static func pattern(count: Int) -> [UInt8] { (0..<count).map { UInt8($0 % 251) } }
}
