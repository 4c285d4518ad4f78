import Backplane

/// The level of detail in the log of a load; secrets are never logged.
public enum LoadLogLevel: Sendable {
    /// Nothing is logged.
    case none
    /// One message at the end, with the method, the URL without its query, the status or the error, and the time.
    case minimal
    /// The request as a curl command, each attempt, the head of the response, and the end.
    case verbose
}

/// The log of one load, written from its events.
struct LoadLog: Sendable {
    typealias Sink = @Sendable (_ message: String, _ metadata: [String: String], _ call: Call) -> Void
    private let isVerbose: Bool
    private let call: Call
    private let write: Sink
    /// Returns the request as a curl command; `nil` if it cannot be made.
    private let request: @Sendable () -> String?

    /// Creates the log of a load; returns `nil` if nothing is logged.
    init?(_ level: LoadLogLevel, _ call: Call, _ write: @escaping Sink, request: @escaping @Sendable () -> String?) {
        guard level != .none else { return nil }
        (isVerbose, self.call, self.write, self.request) = (level == .verbose, call, write, request)
    }

    @Sendable func note(_ event: ExchangeEvent) {
        var metadata: [String: String] = [:]
        metadata["status"] = event.status.map(String.init)
        metadata["error"] = event.error
        switch event.stage {
        case .start where isVerbose: if let request = request() { write("load started", ["request": request], call) }
        case .attempted where isVerbose:
            metadata["attempt"] = "\(event.attempt)"
            write("attempt", metadata, call)
        case .head where isVerbose:
            let fields = (event.headers?.fields ?? []).map { field in
                "\(field.name): \(Self.plainFields.contains(field.name.lowercased()) ? field.value : "…")"
            }
            metadata["fields"] = fields.joined(separator: "; ")
            write("response", metadata, call)
        case .end:
            (metadata["method"], metadata["url"]) = (event.method, event.url)
            metadata["milliseconds"] = "\(event.after / 1_000_000)"
            if let failure = event.failure {
                metadata["status"] = failure.httpStatus.map(String.init)
            } else {
                metadata["attempts"] = "\(event.attempt)"
            }
            write("load ended", metadata, call)
        default: break
        }
    }

    /// The names of response fields whose values are not secret.
    private static let plainFields: Set<String> = [
        "age", "allow", "cache-control", "content-encoding", "content-language", "content-length", "content-range",
        "content-type", "date", "expires", "last-modified", "retry-after", "server", "vary",
    ]
}
