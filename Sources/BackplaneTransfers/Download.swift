import Backplane
import BackplaneExchange
import BackplaneNetwork
import Dispatch
import FoundationEssentials
import Glibc

// A download: the state machine that decides, the run that performs its actions on the network and the part file, and
// the header fields that both read.

/// The state machine of one download, from the bytes that already exist to the whole file.
///
/// It performs no I/O: each function takes an event and returns the next action. The same responses therefore always
/// result in the same requests, and tests can drive it without a server.
struct DownloadMachine: Sendable {
    enum Action: Sendable {
        /// Send the request, for the whole file or for the rest of a known version.
        case ask(PartAsked?)
        /// Empty the part, record the origin, and append the response's body.
        case begin(PartRecord)
        case append
        /// Discard the response, wait, and call ``DownloadMachine/next()``.
        case again(after: Duration)
        /// Finish, because the file is complete.
        case finish
        case fail(BackplaneError)
    }
    struct PartAsked: Sendable, Equatable {
        var from: Int64
        var validator: String
    }

    private let request: HTTPRequest
    private let policy: RetryPolicy
    private let sizeLimit: Int64?
    /// The version of the existing bytes; `nil` if there are none.
    private(set) var origin: PartRecord?
    private(set) var count: Int64 = 0
    /// The number of the attempt for the host's budget, where an attempt after sufficient progress counts as the first.
    private(set) var attempt = 1
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
    /// Whether only the whole file may be requested, after an incorrect response to a request for a part.
    private var asksForWhole = false
    /// The error of the last attempt that was followed by another one.
    private var rejection: BackplaneError?

    /// The progress in bytes that resets the count of attempts; bytes that a restart has discarded do not count.
    ///
    /// A server that ends each response after fewer bytes, or lets a download restart again and again, cannot keep it
    /// running forever.
    static let advance: Int64 = 64 << 10

    init(
        _ request: HTTPRequest, _ policy: RetryPolicy, sizeLimit: Int64? = nil,
        origin: PartRecord? = nil, count: Int64 = 0, hadBytes: Bool = false
    ) {
        (self.request, self.policy, self.sizeLimit) = (request, policy, sizeLimit)
        if let origin, origin.url == PartRecord.url(of: request), count <= origin.length ?? count {
            (self.origin, self.count, advancedAt, sources) = (origin, count, count, 1)
        } else if hadBytes {
            restart = .partUnusable
        }
    }

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
        case 200, 203, 206:
            // A response with a range is a part, whatever its status (RFC 9110, section 14.4).
            guard status == 206 || headers["Content-Range"] != nil else { return whole(headers, headers.length) }
            return part(headers, random)
        case 416 where asked != nil:
            // The existing bytes may already be the whole file.
            guard var complete = origin, ContentRange.emptyTotal(headers["Content-Range"]) == count,
                complete.length == nil, !complete.contradicts(headers)
            else { return askForWhole(.wrongRange, random) }
            complete.length = count
            origin = complete
            return .finish
        default:
            let error = BackplaneError(
                .networkStatus, "the response has the status \(status); a download expects 200, or 206 for a part",
                at: request.printableURL, failure: .http(status))
            guard attempts < policy.attempts,
                let delay = policy.delay(after: status, headers, attempt: attempts, now: now, random: random)
            else { return .fail(error) }
            return again(after: delay, error)
        }
    }

    /// Begins with a response that contains the whole file, whether or not a part was requested.
    private mutating func whole(_ headers: HTTPHeaders, _ length: Int64?) -> Action {
        let new = PartRecord(request, headers, length: length)
        let isSame =
            asked == nil
            || asked?.validator == new.validator && (origin?.length == nil || length == nil || origin?.length == length)
        beginAnew(isSame ? .noRanges : .changed)
        if let tooLarge = tooLarge(length) { return .fail(tooLarge) }
        (origin, end, sources, asksForWhole) = (new, length, 1, false)
        return .begin(new)
    }

    /// Appends a response that is the requested range of the same version.
    private mutating func part(_ headers: HTTPHeaders, _ random: Double) -> Action {
        let range = headers["Content-Range"].flatMap { ContentRange($0) }
        if let range, range.isWhole, headers.length ?? range.count == range.count {
            return whole(headers, range.total)
        }
        guard let asked, let origin else {
            let found = headers["Content-Range"].map { "`\($0.prefix(100))`" } ?? "no range"
            return .fail(
                BackplaneError(
                    .networkMalformed, "the whole file was requested, and the server sent a part of it: \(found)",
                    at: request.printableURL))
        }
        guard let range, range.first == asked.from else { return askForWhole(.wrongRange, random) }
        if origin.contradicts(headers) { return askForWhole(.changed, random) }
        if let length = origin.length, let total = range.total, total != length { return askForWhole(.changed, random) }
        guard let length = origin.length ?? range.total, range.last < length,
            headers.length ?? range.count == range.count
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
        return again(after: attempts == 1 ? .zero : policy.backoff(after: attempts, random: random), found)
    }

    private mutating func again(after delay: Duration, _ error: BackplaneError, isFirst: Bool = false) -> Action {
        attempts += 1
        (attempt, rejection) = (isFirst ? 1 : attempts, error)
        return .again(after: delay)
    }

    private func tooLarge(_ length: Int64?) -> BackplaneError? {
        guard let sizeLimit, let length, length > sizeLimit else { return nil }
        return BackplaneError(
            .networkTooLarge, "the file has \(length) bytes, more than the limit of \(sizeLimit)",
            at: request.printableURL)
    }

    // MARK: The body

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
    mutating func ended(_ error: BackplaneError?, random: Double) -> Action {
        if error == nil, count == origin?.length ?? count { return .finish }
        let error =
            error
            ?? BackplaneError(
                .networkFailed, "the server ended the response before the file was complete", at: request.printableURL)
        // The host's budget allows no further attempt.
        if error.code == .networkNotRetried { return .fail(rejection ?? error) }
        guard error.isConnectivity || error.code == .networkMalformed else { return .fail(error) }
        let hasAdvanced = count - advancedAt >= Self.advance
        if hasAdvanced { (attempts, advancedAt) = (1 + restarts, count) }
        guard attempts < policy.attempts else { return .fail(error) }
        return again(after: policy.backoff(after: attempts, random: random), error, isFirst: hasAdvanced)
    }

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

// MARK: The run

extension TransferRun {
    /// Downloads the file.
    ///
    /// If the task is cancelled, everything received so far is in the part file and on the disk.
    func download(to target: String) async throws -> TransferTable.Outcome {
        var existing = stat()
        if transfer.existing == .keep, stat(target, &existing) == 0 {
            return .downloaded(file: target, wasKept: true, bytes: Int64(existing.st_size))
        }
        let part = try PartFile(target: target)
        // A thread that waits for a disk may hold the part longer than this run, which must not keep the lock that
        // long.
        defer { part.close() }
        let found = try await disk.perform { () throws(BackplaneError) in try part.restore() }
        var machine = DownloadMachine(
            transfer.request, options.retry, sizeLimit: transfer.sizeLimit, origin: found.origin, count: part.count,
            hadBytes: found.hadBytes)
        report(.bytes(machine.count, of: machine.origin?.length))
        report(.synced(machine.count))
        do {
            while true {
                try await fetch(part, &machine)
                guard let sha256 = transfer.sha256 else { break }
                let actual = try await disk.perform { () throws(BackplaneError) in try part.sha256() }
                if actual == sha256 { break }
                if case .fail(let error) = machine.hadWrongDigest() {
                    part.remove()
                    throw error
                }
            }
        } catch {
            // The part is kept, so that the next run continues it; a removed part remains removed.
            if part.count == 0 { part.remove() }
            let isKept: Void? = try? await disk.perform { () throws(BackplaneError) in try part.leave() }
            if isKept != nil { report(.synced(part.count)) }
            throw error
        }
        let policy = transfer.existing, bytes = part.count
        let file = try await disk.perform { () throws(BackplaneError) in try part.finish(policy) }
        return .downloaded(file: file ?? target, wasKept: file == nil, bytes: bytes)
    }

    private func fetch(_ part: PartFile, _ machine: inout DownloadMachine) async throws {
        var action = machine.next()
        while true {
            if let reason = machine.takeRestart() { report(.restarted(reason)) }
            switch action {
            case .finish: return
            case .fail(let error): throw error
            case .again(let delay):
                try await retries.clock.pause(for: delay)
                action = machine.next()
            case .ask(let asked): action = try await exchange(asked, part, &machine)
            case .begin, .append: preconditionFailure("the answer to a head, which `exchange` acts on")
            }
        }
    }

    private func exchange(
        _ asked: DownloadMachine.PartAsked?, _ part: PartFile, _ machine: inout DownloadMachine
    ) async throws -> DownloadMachine.Action {
        try Task.checkCancellation()
        var request = transfer.request, exchange = exchangeOptions(attempt: machine.attempt)
        // Positions in a compressed representation do not correspond to positions in the file.
        if request.headers["Accept-Encoding"] == nil { request.headers.add("Accept-Encoding", "identity") }
        if let asked {
            request.headers["Range"] = "bytes=\(asked.from)-"
            request.headers["If-Range"] = asked.validator
        }
        (exchange.headTimeout, exchange.readTimeout) = (options.idleLimit, options.idleLimit)
        let response: HTTPStreamedResponse
        do {
            response = try await network.open(request, exchange)
        } catch {
            return machine.ended(try Self.failure(error), random: retries.random())
        }
        let action = machine.answered(
            response.status, response.headers, now: retries.date(), random: retries.random())
        if let reason = machine.takeRestart() { report(.restarted(reason)) }
        switch action {
        case .begin(let origin):
            // A state never reports bytes that are missing.
            if part.count > 0 { await saved() }
            try part.begin(origin)
        case .append: break
        default:
            response.body.cancel()
            return action
        }
        report(.bytes(machine.count, of: machine.origin?.length))
        do {
            try await receive(response, part, &machine)
        } catch {
            response.body.cancel()
            return machine.ended(try Self.failure(error), random: retries.random())
        }
        return machine.ended(nil, random: retries.random())
    }

    /// Appends a body to the part, and flushes it to the disk in the background.
    ///
    /// This function waits for the disk only if a flush takes longer than the arrival of the bytes of the next flush.
    private func receive(
        _ response: HTTPStreamedResponse, _ part: PartFile, _ machine: inout DownloadMachine
    ) async throws {
        var flush: Task<Void, any Error>?, last = (count: part.count, time: retries.elapsed)
        do {
            for try await chunk in response.body {
                try machine.arrived(chunk.count)
                try part.append(chunk)
                report(.bytes(machine.count, of: machine.origin?.length))
                let count = part.count, now = retries.elapsed
                // If the clock goes backwards, the number of bytes decides when the next flush is due.
                guard count - last.count >= 16 << 20 || now - last.time >= .seconds(5) else { continue }
                try await flush?.value
                last = (count, now)
                flush = Task { [disk, report] in
                    try await disk.perform { () throws(BackplaneError) in try part.sync(count) }
                    report(.synced(count))
                }
            }
            try Task.checkCancellation()
        } catch {
            _ = await flush?.result
            throw error
        }
        try await flush?.value
    }

    /// Returns the error of an exchange, for the state machine; throws an error if it is a cancellation.
    private static func failure(_ error: any Error) throws -> BackplaneError {
        try Task.checkCancellation()
        if error is CancellationError { throw error }
        return BackplaneError(thrown: error)
    }
}

// MARK: Header fields

extension PartRecord {
    init(_ request: HTTPRequest, _ headers: HTTPHeaders, length: Int64?) {
        self.init(url: Self.url(of: request), validator: Self.strongValidator(headers), length: length)
    }

    static func url(of request: HTTPRequest) -> String { String(request.url.prefix { $0 != "#" }) }

    /// Returns the validator for `If-Range`, which must be strong (RFC 9110, section 13.1.5): a strong entity tag, or
    /// otherwise a date that is a second older than the response.
    static func strongValidator(_ headers: HTTPHeaders) -> String? {
        let tags = headers.values("ETag")
        if tags.count == 1, let tag = headers["ETag"], isStrongTag(tag) { return tag }
        guard tags.isEmpty, let modified = headers["Last-Modified"], let date = headers["Date"],
            let changed = Date(httpDate: modified), let sent = Date(httpDate: date),
            sent.timeIntervalSince(changed) >= 1
        else { return nil }
        return modified
    }

    /// Returns whether the head of a response belongs to a different version.
    func contradicts(_ headers: HTTPHeaders) -> Bool {
        guard let validator else { return false }
        let field = Self.isStrongTag(validator) ? "ETag" : "Last-Modified"
        return headers[field].map { $0 != validator } ?? false
    }

    /// Returns whether a text is a strong entity tag (RFC 9110, section 8.8.3) of a usual length.
    private static func isStrongTag(_ text: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        return (2...1_024).contains(text.utf8.count) && text.utf8.first == quote && text.utf8.last == quote
            && text.utf8.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }
}

/// The value of a `Content-Range` field with bytes (RFC 9110, section 14.4).
struct ContentRange: Sendable, Equatable {
    var first: Int64, last: Int64
    /// The number of bytes of the whole file, or `nil` if the server does not know it.
    var total: Int64?

    var count: Int64 { last - first + 1 }
    var isWhole: Bool { first == 0 && count == total }

    /// Parses a value; returns `nil` for another unit, a value without a range, or a contradictory value.
    init?(_ text: String) {
        guard let (range, total) = Self.split(text) else { return nil }
        let ends = range.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max
        else { return nil }
        (self.first, self.last) = (first, last)
        guard total != "*" else { return }
        guard let total = Self.number(total), last < total else { return nil }
        self.total = total
    }

    /// Returns the number of bytes of the whole file in a value without a range: `bytes */100`.
    static func emptyTotal(_ text: String?) -> Int64? {
        guard let (range, total) = text.flatMap(split), range == "*" else { return nil }
        return number(total)
    }

    private static func split(_ text: String) -> (range: Substring, total: Substring)? {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    private static func number(_ digits: Substring) -> Int64? {
        digits.utf8.allSatisfy(\.isDigit) ? Int64(digits) : nil
    }
}

extension HTTPHeaders {
    fileprivate var length: Int64? { self["Content-Length"].flatMap(\.wholeNumber) }
}
