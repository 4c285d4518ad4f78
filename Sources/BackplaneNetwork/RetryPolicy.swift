package import Backplane
package import FoundationEssentials

/// The policy for retrying an exchange: bounded exponential backoff with full jitter.
///
/// A request is repeated only if its method is idempotent (RFC 9110, section 9.2.2) or ``repeatsAnyMethod``, and its
/// body can be resent. The decision is a pure function; the pipeline has the clock and the budget.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first one.
    public var attempts = 3
    /// The upper bound of the delay before the second attempt; it doubles with each further attempt.
    public var base: Duration = .milliseconds(200)
    /// The upper bound of all delays.
    public var limit: Duration = .seconds(10)
    /// The maximum `Retry-After` that is honoured; a response that requests a longer delay is the result.
    public var retryAfterLimit: Duration = .seconds(60)
    /// The statuses after which another attempt may help.
    public var statuses: Set<Int> = [408, 425, 429, 502, 503, 504]
    /// The time limit of one attempt up to the head of its response; `nil` means only the limits of the exchange.
    public var attemptTimeout: Duration?
    /// A Boolean value that indicates whether requests with any method may be repeated, such as `POST`.
    public var repeatsAnyMethod = false

    /// Creates a policy, by default for three attempts.
    public init(attempts: Int = 3) { self.attempts = attempts }

    /// A single attempt.
    public static var none: RetryPolicy { RetryPolicy(attempts: 1) }
}

extension RetryPolicy {
    package func allows(_ request: HTTPRequest, after attempt: Int) -> Bool {
        attempt < attempts && repeats(request.method, request.body)
    }

    func repeats(_ method: String, _ body: HTTPBody) -> Bool {
        body.isReplayable && (repeatsAnyMethod || HTTPRequest.idempotentMethods.contains(method))
    }

    /// Returns the delay before the attempt that follows another one: a random part of a bound that doubles.
    package func backoff(after attempt: Int, random: Double) -> Duration {
        var bound = Swift.min(base, limit)
        for _ in 1..<Swift.max(1, Swift.min(attempt, 64)) where bound < limit { bound = Swift.min(bound * 2, limit) }
        return bound * Swift.min(Swift.max(random, 0), 1)
    }

    /// Returns the delay after a response, or `nil` if it is the result.
    package func delay(
        after status: Int, _ headers: HTTPHeaders, attempt: Int, now: Date, random: Double
    ) -> Duration? {
        guard statuses.contains(status) else { return nil }
        let backoff = backoff(after: attempt, random: random)
        guard let asked = headers["Retry-After"].flatMap({ Duration(retryAfter: $0, from: now) }) else {
            return backoff
        }
        return asked <= retryAfterLimit ? Swift.max(asked, backoff) : nil
    }
}

extension RetryPolicy {
    /// The policy as the text of the option `retry` at the boundary: words with values, and times in seconds.
    var text: String {
        var words = [
            "attempts=\(attempts)", "base=\(base.text)", "limit=\(limit.text)", "after=\(retryAfterLimit.text)",
            "statuses=\(statuses.sorted().map(String.init).joined(separator: ","))",
        ]
        if let attemptTimeout { words.append("attempt=\(attemptTimeout.text)") }
        if repeatsAnyMethod { words.append("any") }
        return words.joined(separator: " ")
    }

    /// Creates a policy from the text of the option `retry`; missing words have their default values.
    package init(text: String) throws(BackplaneError) {
        self.init()
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1]) : ""
            switch parts[0] {
            case "attempts": attempts = try Self.number(value, of: word)
            case "base": base = try Self.time(value, of: word)
            case "limit": limit = try Self.time(value, of: word)
            case "after": retryAfterLimit = try Self.time(value, of: word)
            case "attempt": attemptTimeout = try Self.time(value, of: word)
            case "any" where parts.count == 1: repeatsAnyMethod = true
            case "statuses":
                statuses = []
                for status in value.split(separator: ",") { statuses.insert(try Self.number(String(status), of: word)) }
            default: throw Self.wrong(word)
            }
        }
    }

    private static func number(_ text: String, of word: Substring) throws(BackplaneError) -> Int {
        guard let number = Int(text), (0...Self.mostAttempts).contains(number) else { throw wrong(word) }
        return number
    }

    private static func time(_ text: String, of word: Substring) throws(BackplaneError) -> Duration {
        guard let seconds = Double(text), seconds >= 0, seconds <= Duration.longest / .seconds(1) else {
            throw wrong(word)
        }
        return .seconds(seconds)
    }

    private static func wrong(_ word: Substring) -> BackplaneError {
        BackplaneError(
            .networkRefused,
            "the option `retry` contains the unknown word `\(word)`; expected attempts=N, base=SECONDS, limit=SECONDS, after=SECONDS, attempt=SECONDS, statuses=N,N, any"
        )
    }
}

extension Duration {
    fileprivate var text: String { String(self / .seconds(1)) }
}

extension Duration {
    /// Creates the delay that a `Retry-After` field requests (RFC 9110, section 10.2.3); returns `nil` for anything
    /// except a number of seconds or a date.
    init?(retryAfter text: String, from now: Date) {
        if let seconds = text.trimmingBlanks.wholeNumber {
            self = Duration.seconds(seconds).bounded
        } else if let date = Date(httpDate: text) {
            self = Duration.seconds(date.timeIntervalSince(now)).bounded
        } else {
            return nil
        }
    }
}

extension StringProtocol {
    /// The value of a text that consists only of digits, clamped to the largest number; `nil` for any other text.
    package var wholeNumber: Int64? {
        guard !isEmpty, utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(self) ?? .max
    }
}

extension Date {
    /// Parses a date of HTTP in any of its forms (RFC 9110, section 5.6.7); returns `nil` for anything else.
    ///
    /// Other forms that servers use are parsed by the rules for dates of cookies (RFC 6265, section 5.1.1).
    ///
    /// The time is in UTC, regardless of the zone in the text.
    package init?(httpDate text: String) {
        var clock: [Int]?, day: Int?, month: Int?, year: Int?
        for token in text.utf8.split(whereSeparator: {
            !$0.isDigit && !$0.isASCIILetter && $0 != UInt8(ascii: ":") && $0 < 0x7F
        }) {
            let digits = token.prefix(while: \.isDigit), number = Int(Substring(digits)) ?? 0
            if clock == nil, let time = Self.clock(Substring(token)) {
                clock = time
            } else if day == nil, (1...2).contains(digits.count) {
                day = number
            } else if month == nil, let found = Self.month(Substring(token)) {
                month = found
            } else if year == nil, (2...4).contains(digits.count) {
                year = number < 70 ? number + 2_000 : number < 100 ? number + 1_900 : number
            }
        }
        guard let clock, let day, let month, let year, year >= 1601, (1...31).contains(day) else { return nil }
        let days = Self.days(year, month, day), following = month == 12 ? (year + 1, 1) : (year, month + 1)
        guard days < Self.days(following.0, following.1, 1) else { return nil }
        self.init(timeIntervalSince1970: Double(days * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]))
    }

    /// Returns the hours, minutes and seconds of a time such as `8:49:37`; `nil` for anything else.
    private static func clock(_ token: Substring) -> [Int]? {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false).map {
            $0.utf8.prefix(while: \.isDigit)
        }
        guard parts.count == 3, parts.allSatisfy({ (1...2).contains($0.count) }) else { return nil }
        let clock = parts.compactMap { Int(Substring($0)) }
        // A minute with a leap second has a 60th.
        return clock[0] < 24 && clock[1] < 60 && clock[2] <= 60 ? clock : nil
    }

    private static func month(_ name: Substring) -> Int? {
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            .firstIndex(of: name.prefix(3).lowercased()).map { $0 + 1 }
    }

    /// Returns the number of days from 1970-01-01 to a date in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // The year begins in March, so that the day of a leap year is its last.
        let year = month <= 2 ? year - 1 : year, era = year / 400, yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
