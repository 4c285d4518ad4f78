#if Engines
import Backplane
public import BackplaneExchange
public import BackplaneNetwork
public import Metrics

/// An executor that measures the requests of another executor, as `http.client.request.duration`.
///
/// ```swift
/// let options = HostOptions(executors: [MeasuredExecutor(AsyncHTTPClientExecutor())])
/// ```
///
/// Each attempt and each redirected request counts, from its start to the head of the response. Requests that a cache
/// or a mock answers do not count. The dimensions are `http.request.method`, `server.address`, `server.port`,
/// `http.response.status_code` and, after an error or a status of 400 or more, `error.type`.
public struct MeasuredExecutor: HTTPExecutor {
    private let next: any HTTPExecutor
    private let factory: any MetricsFactory
    /// The methods that are dimensions; other methods would add an unlimited number of values.
    private static let methods = HTTPRequest.idempotentMethods.union(["POST", "PATCH", "CONNECT"])

    /// Creates an executor that sends requests through another one.
    ///
    /// - Parameter factory: The backend. Default: the bootstrapped backend of the program.
    public init(_ next: any HTTPExecutor, factory: any MetricsFactory = MetricsSystem.factory) {
        (self.next, self.factory) = (next, factory)
    }

    /// The URL schemes of the other executor.
    public var schemes: [String] { next.schemes }
    /// The capabilities of the other executor.
    public var capabilities: HTTPCapabilities { next.capabilities }

    /// Sends a request through the other executor, and measures the time until the head of the response has arrived.
    ///
    /// - Throws: The errors of the other executor.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        guard let origin = HTTPOrigin(request.url) else { return try await next.open(request, options) }
        let method = Self.methods.contains(request.method) ? request.method : "_OTHER"
        return try await factory.measure(
            "http.client.request.duration",
            [("http.request.method", method), ("server.address", origin.host), ("server.port", "\(origin.port)")]
        ) {
            try await next.open(request, options)
        } adding: { response in
            let status = "\(response.status)"
            return [("http.response.status_code", status)] + (response.status < 400 ? [] : [("error.type", status)])
        }
    }
}

extension MetricsFactory {
    /// Records the time that a function takes, with dimensions that its result adds, or with the code of its error.
    func measure<Result>(
        _ label: String, _ dimensions: [(String, String)], _ body: () async throws -> Result,
        adding added: (Result) -> [(String, String)] = { _ in [] }
    ) async rethrows -> Result {
        let start = ContinuousClock.now
        func record(_ added: [(String, String)]) {
            Timer(label: label, dimensions: dimensions + added, preferredDisplayUnit: .seconds, factory: self)
                .record(duration: .now - start)
        }
        do {
            let result = try await body()
            record(added(result))
            return result
        } catch {
            record([("error.type", BackplaneError(thrown: error).code.rawValue)])
            throw error
        }
    }
}
#endif
