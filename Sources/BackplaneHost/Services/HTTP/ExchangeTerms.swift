import Backplane
import BackplaneNetwork
import CBackplane

/// The validated options that a component specified for an exchange.
struct ExchangeTerms {
    /// The options that the pipeline follows.
    let options: HTTPOptions
    /// The absolute path of the file that is the request's body.
    let upload: String?
    /// The absolute path of the file to which the response's body is written.
    let download: String?

    private static let knownFlags = UInt32(
        BP_HTTP_DECOMPRESS | BP_HTTP_REPORT_INTERIM | BP_HTTP_REPORT_ATTEMPTS)
    /// The names of options that are defined but not yet supported by this host.
    private static let laterNames = [
        "cache", "coalescing", "mock", "priority",
    ]

    /// Checks options.
    ///
    /// - Throws: `network.unsupported` for options that this host does not support; `network.refused` for invalid
    ///   values and paths.
    init(_ options: bp_http_options, in folder: ComponentFolder) throws(BackplaneError) {
        guard options.flags & UInt32(BP_HTTP_JUDGED) == 0 else { throw .unsupported("verdicts on exchanges") }
        guard options.flags & ~Self.knownFlags == 0 else {
            throw .unsupported("the flags 0x\(String(options.flags & ~Self.knownFlags, radix: 16))")
        }
        for (name, limit) in [
            ("total_ns", options.total_ns), ("head_ns", options.head_ns), ("read_ns", options.read_ns),
        ] where limit < 0 {
            throw BackplaneError(.networkRefused, "the time limit `\(name)` must not be negative, but is \(limit)")
        }
        var own = HTTPOptions(copying: options)
        for (name, value) in Pairs.copy(options.named, count: min(options.named_count, 100)) {
            switch name {
            case "executor": own.executor = value
            case "credential": own.credential = value
            case "account": own.account = value
            case "redirects": own.redirects = try Self.count(value, of: name, 0...HTTPOptions.mostRedirects)
            case "retry": own.retry = try RetryPolicy(text: value)
            case "attempt": own.attempt = try Self.count(value, of: name, 1...RetryPolicy.mostAttempts)
            default:
                throw .unsupported(
                    Self.laterNames.contains(name) ? "the option `\(name)`" : "an option with the name `\(name)`")
            }
        }
        self.options = own
        upload = options.upload.lent.isEmpty ? nil : try folder.path(of: options.upload.text, makingFolder: false)
        download = options.download.lent.isEmpty ? nil : try folder.path(of: options.download.text, makingFolder: true)
    }

    private static func count(_ value: String, of name: String, _ range: ClosedRange<Int>)
        throws(BackplaneError) -> Int
    {
        guard let count = Int(value), range.contains(count) else {
            throw BackplaneError(
                .networkRefused,
                "the option `\(name)` must be a number from \(range.lowerBound) to \(range.upperBound), but is `\(value)`"
            )
        }
        return count
    }
}

extension BackplaneError {
    fileprivate static func unsupported(_ what: String) -> BackplaneError {
        BackplaneError(.networkUnsupported, "this host does not have \(what); nothing was sent")
    }
}
