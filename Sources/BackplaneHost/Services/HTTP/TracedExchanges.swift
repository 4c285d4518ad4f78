import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The traces of calls in the exchanges of all components: in the log, and in what is sent to hosts that the manifest
/// names.
final class TracedExchanges: Sendable {
    private let log: any LogSink
    /// The names of the hosts that traces are sent to, in lower case.
    private let traced = Mutex<Set<String>>([])

    init(log: any LogSink) { self.log = log }

    /// Sends traces to other hosts from now on.
    func follow(_ settings: NetworkSettings) {
        let hosts = Set(settings.traced.map { $0.lowercased() })
        traced.withLock { $0 = hosts }
    }

    /// Returns a request with a trace, if its host is to have that and the request has no trace of its own.
    func request(_ request: HTTPRequest, with trace: Trace?) -> HTTPRequest {
        guard let trace, request.headers["traceparent"] == nil, ["http", "https"].contains(request.scheme),
            traced.withLock({ !$0.isEmpty && $0.contains(request.hostName) })
        else { return request }
        var request = request
        request.headers.add("traceparent", trace.traceparent)
        return request
    }

    /// Logs the end of an exchange.
    ///
    /// - Parameter status: The status of the final response, or `nil` if its head did not arrive.
    func note(
        _ request: HTTPRequest, of component: String, _ trace: Trace?, status: Int?, _ error: BackplaneError?,
        after time: Duration
    ) {
        guard log.isEnabled(.debug) else { return }
        var metadata = [
            "component": component, "method": request.method, "url": request.printableURL,
            "milliseconds": "\(time.nanoseconds / 1_000_000)",
        ]
        metadata["status"] = status.map(String.init)
        metadata["error"] = error?.code.rawValue
        metadata["trace"] = trace?.id
        log.write(LogRecord(level: .debug, source: "host", message: "exchange ended", metadata: metadata))
    }
}
