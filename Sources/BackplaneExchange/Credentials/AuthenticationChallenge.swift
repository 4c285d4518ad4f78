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
    private let bytes: [UInt8]
    private var index = 0
    private var found: [AuthenticationChallenge] = []
    /// The challenge whose parameters are being read; `nil` before the first and after a malformed one.
    private var current: AuthenticationChallenge?

    private init(_ text: String) { bytes = Array(text.utf8) }

    static func challenges(in text: String) -> [AuthenticationChallenge] {
        var reader = ChallengeReader(text)
        while reader.skipSeparators() { reader.readItem() }
        reader.finish()
        return reader.found
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips commas and spaces, and returns whether anything follows.
    private mutating func skipSeparators() -> Bool {
        while let byte = next, byte == UInt8(ascii: ",") || byte.isSpace { index += 1 }
        return next != nil
    }

    private mutating func skipSpaces() { while next?.isSpace == true { index += 1 } }

    private mutating func finish() {
        if let challenge = current.take() { found.append(challenge) }
    }

    /// Reads a parameter of the current challenge, or the start of the next challenge.
    private mutating func readItem() {
        guard let name = token() else { return skipItem() }
        let end = index
        skipSpaces()
        if next == UInt8(ascii: "=") { return readValue(of: name) }
        finish()
        current = AuthenticationChallenge(scheme: name.lowercased())
        guard index > end, let byte = next, byte != UInt8(ascii: ",") else { return }
        if let token = token68() {
            current?.token = token
        } else if let name = token() {
            skipSpaces()
            if next == UInt8(ascii: "=") { readValue(of: name) } else { skipItem() }
        } else {
            skipItem()
        }
    }

    private mutating func readValue(of name: String) {
        index += 1
        skipSpaces()
        guard let value = next == UInt8(ascii: "\"") ? quotedString() : token() else { return skipItem() }
        skipSpaces()
        guard next == nil || next == UInt8(ascii: ",") else { return skipItem() }
        current?.parameters.append(.init(name: name.lowercased(), value: value))
    }

    private mutating func token() -> String? {
        let start = index
        while next?.isTokenCharacter == true { index += 1 }
        return start == index ? nil : String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads a `token68`, which must end the challenge; otherwise reads nothing.
    private mutating func token68() -> String? {
        let start = index
        while next?.isToken68Character == true { index += 1 }
        let hasContent = index > start
        while next == UInt8(ascii: "=") { index += 1 }
        let end = index
        skipSpaces()
        guard hasContent, next == nil || next == UInt8(ascii: ",") else {
            index = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads a quoted string; returns `nil` if it is not terminated.
    private mutating func quotedString() -> String? {
        var content: [UInt8] = []
        index += 1
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = next else { return nil }
                content.append(escaped)
                index += 1
            default: content.append(byte)
            }
        }
        return nil
    }

    /// Discards the current challenge, and skips to the next comma outside quotes.
    private mutating func skipItem() {
        current = nil
        while let byte = next, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quotedString() } else { index += 1 }
        }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// A Boolean value that indicates whether tokens may contain the byte (RFC 9110, section 5.6.2).
    fileprivate var isTokenCharacter: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    fileprivate var isToken68Character: Bool { isLetterOrDigit || "-._~+/".utf8.contains(self) }
}
