import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// A bearer token with its expiry, if known.
struct BearerToken: Sendable, Equatable {
    var value: Secret
    /// The refresh token; `nil` if there is none.
    var refreshToken: Secret?
    /// The time after which the token is renewed before it is used; `nil` means once it is rejected.
    var renewal: Date?

    /// The maximum size of a token, which is that of the longest header field that servers accept.
    static let mostBytes = 16 << 10
    /// The maximum size of a response that contains tokens.
    static let mostAnswerBytes = 256 << 10

    init(_ value: Secret, refreshToken: Secret? = nil, renewal: Date? = nil) {
        (self.value, self.refreshToken, self.renewal) = (value, refreshToken, renewal)
    }

    /// Parses the token in a response.
    ///
    /// - Parameters:
    ///   - request: The request for the token.
    ///   - now: The current time of the client.
    /// - Throws: `network.sign-in`, without any of the response's content.
    init(_ response: HTTPResponse, to request: HTTPRequest, _ source: TokenSource, now: Date) throws(BackplaneError) {
        func failed(_ why: String) -> BackplaneError {
            BackplaneError(.networkSignIn, "the sign-in failed: \(why)", at: request.printableURL)
        }
        guard (200..<300).contains(response.status) else {
            var error = failed("the server answered with status \(response.status)")
            error.failure = .http(response.status)
            throw error
        }
        guard !response.body.isEmpty else { throw failed("the response is empty; expected JSON with a token") }
        guard let answer = try? DocumentValue(json: Data(response.body)) else {
            throw failed("the response is not JSON; expected JSON with a token at `\(source.token)`")
        }
        guard case .string(let text)? = answer[pointer: source.token] else {
            throw failed("the response has no string at `\(source.token)`, where the token is expected")
        }
        guard let value = Self.token(text) else {
            throw failed(
                "the token at `\(source.token)` is empty, longer than \(Self.mostBytes >> 10) KB, or not of visible ASCII characters"
            )
        }
        self.value = value
        if let pointer = source.refreshToken, case .string(let text)? = answer[pointer: pointer] {
            refreshToken = text.isEmpty || text.utf8.count > Self.mostBytes ? nil : Secret(text)
        }
        let server = response.headers["Date"].flatMap { Date(httpDate: $0) }
        renewal = source.expires.flatMap { answer[pointer: $0] }.flatMap { Self.lifetime($0, server: server ?? now) }
            .map { now + $0 - min(30, $0 / 10) }
    }

    /// Returns the token if it can occur in a header field.
    private static func token(_ text: String) -> Secret? {
        guard (1...mostBytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        return Secret(text)
    }

    /// Returns the remaining lifetime of a token in seconds; `nil` if it is unknown or has already passed.
    ///
    /// A point in time refers to the server's clock, which may be wrong, so it is compared with the server's own
    /// `Date`.
    ///
    /// - Parameters:
    ///   - value: The number of seconds until the expiry, the seconds since 1970 (if they exceed ten years), or a date
    ///     (RFC 3339).
    ///   - server: The time of the server.
    private static func lifetime(_ value: DocumentValue, server: Date) -> Double? {
        let seconds: Double
        switch value {
        case .integer(let number): seconds = Double(number)
        case .number(let number): seconds = number
        case .string(let text):
            if let number = Double(text) {
                seconds = number
            } else if let date = timestamp(text) {
                return after(date.timeIntervalSince(server))
            } else {
                return nil
            }
        default: return nil
        }
        let tenYears = 315_360_000.0
        return after(seconds > tenYears ? seconds - server.timeIntervalSince1970 : seconds)
    }

    private static func after(_ seconds: Double) -> Double? { seconds.isFinite && seconds > 0 ? seconds : nil }

    private static func timestamp(_ text: String) -> Date? {
        (try? Date(text, strategy: Date.ISO8601FormatStyle()))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

extension DocumentValue {
    /// The value at a JSON pointer (RFC 6901).
    fileprivate subscript(pointer pointer: String) -> DocumentValue? {
        guard !pointer.isEmpty else { return self }
        var value = self
        for step in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let key = String(step).replacing("~1", with: "/").replacing("~0", with: "~")
            switch value {
            case .dictionary(let members):
                guard let member = members[key] else { return nil }
                value = member
            case .array(let elements):
                guard let index = Int(key), elements.indices.contains(index) else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }
}
