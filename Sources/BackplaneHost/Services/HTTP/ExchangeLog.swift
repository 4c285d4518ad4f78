import Backplane
import BackplaneNetwork

/// The log of the exchanges of all components, with the traces of their calls.
struct ExchangeLog: Sendable {
    let log: any LogSink

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
