import Backplane
import BackplaneNetwork
import FoundationEssentials

/// The state machine of one download, from the bytes that already exist to the whole file.
///
/// It performs no I/O: each function takes an event and returns the next action. The same responses therefore always
/// result in the same requests, and tests can drive it without a server.
struct DownloadMachine: Sendable {
    /// The next step of a download.
    enum Action: Sendable {
        /// Send the request, for the whole file or for the rest of a known version.
        case ask(PartAsked?)
        /// Empty the part, record the origin, and append the response's body.
        case begin(PartOrigin)
        /// Append the response's body to the part.
        case append
        /// Discard the response, wait, and call ``DownloadMachine/next()``.
        case again(after: Duration)
        /// Finish, because the file is complete.
        case finish
        case fail(BackplaneError)
    }
    /// The requested part of a file.
    struct PartAsked: Sendable, Equatable {
        var from: Int64
        var validator: String
    }

    private let request: HTTPRequest
    private let policy: RetryPolicy
    private let sizeLimit: Int64?
    /// The version of the existing bytes; `nil` if there are none.
    private(set) var origin: PartOrigin?
    /// The number of existing bytes.
    private(set) var count: Int64 = 0
    /// The reason for a restart that is yet to be reported.
    private var restart: RestartReason?
    private var hadWrongDigestBefore = false
    /// The number of responses that contributed to the existing bytes.
    private var sources = 0
    /// The number of attempts since the last sufficient progress, and the position of that progress.
    private var attempts = 1, advancedAt: Int64 = 0
    /// The number of times that received bytes were discarded.
    private var restarts = 0
    private var asked: PartAsked?
    /// The number of bytes after the current response, if its head states it.
    private var end: Int64?
    /// A Boolean value that indicates whether only the whole file may be requested, after an incorrect response to a
    /// request for a part.
    private var asksForWhole = false

    /// The progress in bytes that resets the count of attempts, except for those that a restart has made useless.
    ///
    /// A server that ends each response after fewer bytes, or lets a download restart again and again, cannot keep it
    /// running forever.
    static let advance: Int64 = 64 << 10

    /// Creates the state machine of a download.
    ///
    /// - Parameters:
    ///   - origin: The origin of the existing bytes whose checksum is correct; `nil` if there are none.
    ///   - hadBytes: Whether any bytes existed, usable or not.
    init(
        _ request: HTTPRequest, _ policy: RetryPolicy, sizeLimit: Int64? = nil,
        origin: PartOrigin? = nil, count: Int64 = 0, hadBytes: Bool = false
    ) {
        (self.request, self.policy, self.sizeLimit) = (request, policy, sizeLimit)
        if let origin, origin.resource == PartOrigin.resource(request), count <= origin.length ?? count {
            (self.origin, self.count, advancedAt, sources) = (origin, count, count, 1)
        } else if hadBytes {
            restart = .partUnusable
        }
    }

    // MARK: Asking

    /// Returns the first action, or the one after a delay.
    mutating func next() -> Action {
        if let length = origin?.length, count == length { return .finish }
        (asked, end) = (nil, nil)
        if count > 0, !asksForWhole {
            if let validator = origin?.validator {
                asked = PartAsked(from: count, validator: validator)
            } else {
                beginAnew(.noValidator)
            }
        }
        return .ask(asked)
    }

    /// Returns the reason for a restart since the last call, if any.
    mutating func takeRestart() -> RestartReason? { restart.take() }

    private mutating func beginAnew(_ reason: RestartReason) {
        if count > 0 { (restart, restarts) = (reason, restarts + 1) }
        (count, origin, sources, advancedAt) = (0, nil, 0, 0)
    }

    // MARK: Answers

    /// Handles the head of a response.
    ///
    /// - Parameters:
    ///   - now: The current time, to which a date in `Retry-After` is compared.
    ///   - random: A number from 0 up to 1, for the delay of another attempt.
    mutating func answered(_ status: Int, _ headers: HTTPHeaders, now: Date, random: Double) -> Action {
        switch status {
        case 200, 203:
            if let asked, let origin {
                let isSame =
                    asked.validator == PartOrigin.strongValidator(headers)
                    && (origin.length == nil || headers.length == nil || origin.length == headers.length)
                beginAnew(isSame ? .noRanges : .changed)
            } else {
                beginAnew(.noRanges)
            }
            return begin(PartOrigin(request, headers))
        case 206 where asked != nil: return appended(headers, random)
        case 416 where asked != nil: return askForWhole(.wrongRange, random)
        default:
            guard attempts < policy.attempts,
                let delay = policy.delay(after: status, headers, attempt: attempts, now: now, random: random)
            else { return .fail(.status(status, valid: 200..<207, request)) }
            attempts += 1
            return .again(after: delay)
        }
    }

    private mutating func begin(_ new: PartOrigin) -> Action {
        if let tooLarge = tooLarge(new.length) { return .fail(tooLarge) }
        (origin, end, sources, asksForWhole) = (new, new.length, 1, false)
        return .begin(new)
    }

    private mutating func appended(_ headers: HTTPHeaders, _ random: Double) -> Action {
        guard let asked, let origin, let range = headers["Content-Range"].flatMap({ ContentRange($0) }),
            range.first == asked.from
        else { return askForWhole(.wrongRange, random) }
        if origin.contradicts(headers) { return askForWhole(.changed, random) }
        if let length = origin.length, let total = range.total, total != length { return askForWhole(.changed, random) }
        guard let length = origin.length ?? range.total, range.last < length,
            headers.length.map({ $0 == range.last - range.first + 1 }) ?? true
        else { return askForWhole(.wrongRange, random) }
        if let tooLarge = tooLarge(length) { return .fail(tooLarge) }
        self.origin?.length = length
        end = range.last + 1
        sources += 1
        return .append
    }

    /// Requests the whole file after an unusable response to a part; this counts as an attempt, which bounds the number
    /// of requests.
    private mutating func askForWhole(_ reason: RestartReason, _ random: Double) -> Action {
        let found = BackplaneError(
            .networkMalformed,
            "the server's responses to range requests cannot be used: \(reason.explanation)",
            at: request.printableURL)
        beginAnew(reason)
        asksForWhole = true
        guard attempts < policy.attempts else { return .fail(found) }
        attempts += 1
        return .again(after: attempts == 2 ? .zero : policy.backoff(after: attempts - 1, random: random))
    }

    private func tooLarge(_ length: Int64?) -> BackplaneError? {
        guard let sizeLimit, let length, length > sizeLimit else { return nil }
        return BackplaneError(
            .networkTooLarge, "the file has \(length) bytes, more than the limit of \(sizeLimit)",
            at: request.printableURL)
    }

    // MARK: The body

    /// Counts appended bytes of the body.
    ///
    /// - Throws: `network.malformed` if the body exceeds the announced length; `network.too-large`.
    mutating func arrived(_ bytes: Int) throws(BackplaneError) {
        count += Int64(bytes)
        if let end, count > end {
            beginAnew(.wrongRange)
            throw BackplaneError(
                .networkMalformed, "the server sent more bytes than it had announced", at: request.printableURL)
        }
        if let tooLarge = tooLarge(count) { throw tooLarge }
    }

    /// Handles the end of a body, or of an exchange without one.
    ///
    /// - Parameter error: The error that ended it; `nil` if it was complete.
    mutating func ended(_ error: BackplaneError?, random: Double) -> Action {
        if error == nil, count == origin?.length ?? count { return .finish }
        let error =
            error
            ?? BackplaneError(
                .networkFailed, "the server ended the response before the file was complete", at: request.printableURL)
        guard policy.mayHelp(after: error) || error.code == .networkMalformed else { return .fail(error) }
        if count - advancedAt >= Self.advance { (attempts, advancedAt) = (1 + restarts, count) }
        guard attempts < policy.attempts else { return .fail(error) }
        let delay = policy.backoff(after: attempts, random: random)
        attempts += 1
        return .again(after: delay)
    }

    /// Handles a digest of the whole file that does not match the expected one.
    mutating func hadWrongDigest() -> Action {
        guard sources > 1, !hadWrongDigestBefore else {
            return .fail(
                BackplaneError(
                    .transferDigest, "the SHA-256 of the file does not match the expected one; the file was discarded",
                    at: request.printableURL))
        }
        beginAnew(.wrongDigest)
        hadWrongDigestBefore = true
        return .again(after: .zero)
    }
}
