import Backplane

/// The level of detail with which a load is logged, which never includes secrets.
public enum LoadLogLevel: Sendable {
    /// Nothing is logged.
    case none
    /// One message at the end, with the method, the URL without its query, the status or the error, and the time.
    case minimal
    /// The request as a curl command, each attempt, the head of the response, and the end.
    case verbose
}

/// The log of one load.
struct LoadLog: Sendable {
    typealias Sink = @Sendable (_ message: String, _ metadata: [String: String], _ call: Call) -> Void
    private let isVerbose: Bool
    private let write: Sink
    private let call: Call
    private let start = ContinuousClock.now

    /// Creates the log of a load; returns `nil` if nothing is logged.
    init?(_ level: LoadLogLevel, _ call: Call, _ write: @escaping Sink) {
        if case .none = level { return nil }
        if case .verbose = level { isVerbose = true } else { isVerbose = false }
        (self.write, self.call) = (write, call)
    }

    func started(_ request: HTTPRequest) {
        if isVerbose { write("load started", ["request": request.curlDescription], call) }
    }

    /// The function that receives attempts; `nil` if they are not logged.
    var attempted: (@Sendable (HTTPAttempt) -> Void)? {
        guard isVerbose else { return nil }
        return { attempt in
            var metadata = ["attempt": "\(attempt.number)"]
            metadata["status"] = attempt.status.map { "\($0)" }
            metadata["error"] = attempt.error?.rawValue
            write("attempt", metadata, call)
        }
    }

    func headed(_ response: HTTPStreamedResponse) {
        guard isVerbose else { return }
        let fields = response.headers.fields.map { field in
            let isPlain = Self.plainFields.contains(field.name.lowercased())
            return "\(field.name): \(isPlain || !Redaction.logFields.hides(field.value) ? field.value : "…")"
        }
        write("response", ["status": "\(response.status)", "fields": fields.joined(separator: "; ")], call)
    }

    func ended(_ request: HTTPRequest, _ outcome: Result<HTTPResponse, any Error>) {
        var metadata = [
            "method": request.method, "url": request.printableURL,
            "milliseconds": "\((.now - start).nanoseconds / 1_000_000)",
        ]
        switch outcome {
        case .success(let response):
            (metadata["status"], metadata["attempts"]) = ("\(response.status)", "\(response.timings.attempts)")
        case .failure(let error):
            let error = BackplaneError(thrown: error)
            metadata["error"] = error.code.rawValue
            metadata["status"] = error.httpStatus.map { "\($0)" }
        }
        write("load ended", metadata, call)
    }

    /// The names of response fields whose values are not secret.
    private static let plainFields: Set<String> = [
        "age", "allow", "cache-control", "content-encoding", "content-language", "content-length", "content-range",
        "content-type", "date", "expires", "last-modified", "retry-after", "server", "vary",
    ]
}
