public import BackplaneNetwork

/// A challenge of a server: an authentication scheme with its parameters (RFC 9110, section 11.6.1).
public struct AuthenticationChallenge: Sendable, Equatable {
    /// A name with a value, such as `realm="books"`.
    public struct Parameter: Sendable, Equatable {
        /// The name in lower case.
        public var name: String
        /// The value without quotes and escapes.
        public var value: String
    }
    /// The scheme in lower case: `basic`, `digest`, `bearer`.
    public var scheme: String
    /// The text that follows the scheme instead of parameters (`token68`).
    public var token: String?
    /// The parameters in the order in which they were sent.
    public var parameters: [Parameter] = []

    init(scheme: String, token: String? = nil) { (self.scheme, self.token) = (scheme, token) }

    /// The value of the first parameter with a name, specified in lower case.
    public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Returns the challenges of a response, in order.
    ///
    /// A field may contain several challenges, and there may be several fields. A malformed challenge is skipped.
    public static func challenges(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.values("WWW-Authenticate").flatMap { ChallengeReader.challenges(in: $0) }
    }

    /// Returns the parameters of a field that consists only of parameters, such as `Authentication-Info`.
    static func parameters(in value: String) -> [Parameter] {
        ChallengeReader.challenges(in: "info " + value).first?.parameters ?? []
    }
}

/// A reader of challenges that takes linear time.
private struct ChallengeReader {
    private var text: FieldReader
    private var found: [AuthenticationChallenge] = []
    /// The challenge whose parameters are being read; `nil` before the first and after a malformed one.
    private var current: AuthenticationChallenge?

    static func challenges(in text: String) -> [AuthenticationChallenge] {
        var reader = ChallengeReader(text: FieldReader(text))
        while true {
            reader.text.take { $0 == UInt8(ascii: ",") || $0.isBlank }
            guard reader.text.next != nil else { break }
            reader.readItem()
        }
        reader.finish()
        return reader.found
    }

    private mutating func finish() {
        if let challenge = current.take() { found.append(challenge) }
    }

    private mutating func readItem() {
        guard let name = token() else { return skipItem() }
        let hasBlank = text.next?.isBlank == true
        text.skipBlanks()
        if text.take("=") { return readValue(of: name) }
        finish()
        current = AuthenticationChallenge(scheme: name.lowercased())
        guard hasBlank, !isAtEnd else { return }
        if let token = token68() {
            current?.token = token
        } else if let name = token() {
            text.skipBlanks()
            if text.take("=") { readValue(of: name) } else { skipItem() }
        } else {
            skipItem()
        }
    }

    private mutating func readValue(of name: String) {
        text.skipBlanks()
        guard let value = text.take("\"") ? text.takeQuoted() : token() else { return skipItem() }
        text.skipBlanks()
        guard isAtEnd else { return skipItem() }
        current?.parameters.append(.init(name: name.lowercased(), value: value))
    }

    private var isAtEnd: Bool { text.next == nil || text.next == UInt8(ascii: ",") }

    private mutating func token() -> String? {
        let token = text.take(while: \.isTokenCharacter)
        return token.isEmpty ? nil : token
    }

    /// Reads a `token68`, which must end the challenge; otherwise reads nothing.
    private mutating func token68() -> String? {
        let start = text, content = text.take { $0.isASCIILetter || $0.isDigit || "-._~+/".utf8.contains($0) }
        let padding = text.take { $0 == UInt8(ascii: "=") }
        text.skipBlanks()
        guard !content.isEmpty, isAtEnd else {
            text = start
            return nil
        }
        return content + padding
    }

    /// Discards the current challenge, and skips to the next comma outside quotes.
    private mutating func skipItem() {
        current = nil
        while !isAtEnd {
            text.take { !",\"".utf8.contains($0) }
            if text.take("\"") { _ = text.takeQuoted() }
        }
    }
}
