package import Backplane

extension RetryPolicy {
    /// The policy as it crosses the boundary in the option `retry`: words with values, and times in seconds.
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
    ///
    /// - Throws: `network.refused` for an unknown word or an invalid value.
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
