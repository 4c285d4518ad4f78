public import Backplane
import FoundationEssentials

extension BackplaneError.Code {
    /// No response arrived, because the host is unknown or the connection failed or was closed.
    public static let networkFailed = Self(rawValue: "network.failed")
    /// A file that an exchange reads or writes cannot be used.
    public static let networkFile = Self(rawValue: "network.file")
    /// The executors cannot or may not serve the URL.
    public static let networkRefused = Self(rawValue: "network.refused")
    /// A secure connection is not possible, because the certificate is not trusted or the server does not support TLS.
    public static let networkInsecure = Self(rawValue: "network.insecure")
    /// The response is not HTTP, or its compressed content is damaged.
    public static let networkMalformed = Self(rawValue: "network.malformed")
    /// The executor was shut down before the exchange was finished.
    public static let networkShutDown = Self(rawValue: "network.shut-down")
    /// A body exceeds the size limit.
    public static let networkTooLarge = Self(rawValue: "network.too-large")
    /// The executor does not have a capability that the request needs; nothing was sent.
    public static let networkUnsupported = Self(rawValue: "network.unsupported")
    /// A time limit of the exchange has passed.
    public static let networkTimeout = Self(rawValue: "network.timeout")
    /// The body of a request cannot be read, has a length other than announced, or has already been sent.
    public static let networkBody = Self(rawValue: "network.body")
    /// A credential is unknown, does not apply to the host or the component, or lacks the account; nothing was sent.
    public static let networkCredential = Self(rawValue: "network.credential")
    /// A server returned no token for a credential, or a token has expired and cannot be refreshed.
    public static let networkSignIn = Self(rawValue: "network.sign-in")
    /// A request cannot be created from an endpoint, because it has no URL, or a path that is not allowed.
    public static let networkInvalidRequest = Self(rawValue: "network.invalid-request")
    /// The status of a response is not valid for the endpoint.
    public static let networkStatus = Self(rawValue: "network.status")
    /// A response has no body although one was expected.
    public static let networkEmpty = Self(rawValue: "network.empty")
    /// The body of a response cannot be decoded or parsed.
    public static let networkUnparsable = Self(rawValue: "network.unparsable")
    /// The endpoint's check rejected the loaded value.
    public static let networkRejected = Self(rawValue: "network.rejected")
    /// A redirect cannot or may not be followed, or there were too many.
    public static let networkRedirect = Self(rawValue: "network.redirect")
    /// The pages of a resource do not end, or the next page may not be loaded.
    public static let networkPages = Self(rawValue: "network.pages")
    /// An equal request is in flight; nothing was sent.
    public static let networkRedundant = Self(rawValue: "network.redundant")
    /// A server has a trusted certificate, but none of the keys to which its host is pinned; no request was sent.
    public static let networkPinMismatch = Self(rawValue: "network.pin-mismatch")
    /// The limits for a host do not allow another request now; nothing was sent.
    public static let networkLimited = Self(rawValue: "network.limited")
    /// There is no usable mock, or no exchange in a cassette, for a request; nothing was sent.
    public static let networkMock = Self(rawValue: "network.mock")
    /// A precondition of a request does not hold (status 412): the resource has another version than expected.
    public static let networkConflict = Self(rawValue: "network.conflict")
    /// A cache cannot be used.
    public static let networkCache = Self(rawValue: "network.cache")
    /// Another attempt was requested, but the retry policy or the retry budget does not allow it.
    package static let networkNotRetried = Self(rawValue: "network.not-retried")
}

extension BackplaneError {
    /// The stable number of a load's error, such as 12 for `network.timeout`; 9 for errors unrelated to the network.
    public var networkNumber: Int {
        switch code {
        case .networkFailed: 1
        case .networkUnparsable: 2
        case .networkEmpty: 3
        case .networkInvalidRequest: 4
        case .callCancelled: 5
        case .networkRedundant: 6
        case .networkStatus: 7
        case .networkRejected: 8
        case .networkFile: 10
        case .networkRefused: 11
        case .networkTimeout: 12
        case .networkTooLarge: 13
        case .networkUnsupported: 14
        case .networkBody: 15
        case .networkRedirect: 16
        case .networkPages: 17
        case .networkInsecure: 18
        case .networkMalformed: 19
        case .networkShutDown: 20
        case .callDeadline: 21
        case .networkCredential: 22
        case .networkSignIn: 23
        case .networkPinMismatch: 24
        case .networkLimited: 25
        case .networkMock: 26
        case .networkCache: 27
        case .networkConflict: 28
        default: 9
        }
    }

    /// A Boolean value that indicates whether the cause was a lack of connectivity, so that a later attempt may
    /// succeed.
    public var isConnectivity: Bool { code == .networkFailed || code == .networkTimeout }
}

extension BackplaneError {
    /// The status of the rejected response; `nil` if there was none.
    public var httpStatus: Int? { isAboutResponse ? failure?.details["status"].flatMap { Int($0) } : nil }

    /// The body of the rejected response, up to the endpoint's `failureLimit`; `nil` if it is not available.
    ///
    /// It may contain secrets, and only ``expandedDescription`` shows it.
    public var httpBody: [UInt8]? {
        guard isAboutResponse, let details = failure?.details else { return nil }
        return details[".body"].map { Array($0.utf8) }
            ?? details[".body-base64"].flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }

    private var isAboutResponse: Bool {
        [.networkStatus, .networkConflict, .networkUnparsable, .networkEmpty, .networkRejected, .networkSignIn]
            .contains(code)
    }

    static var responseEmpty: BackplaneError {
        BackplaneError(.networkEmpty, "the response has no body, but one was expected")
    }

    /// Returns the error for a response with an invalid status.
    ///
    /// - Parameter said: The server's explanation.
    /// - Parameter credential: The name of the credential that the request chose, which the error mentions.
    static func status(
        _ response: HTTPStreamedResponse, valid: Range<Int>, _ request: HTTPRequest, _ body: KeptBody? = nil,
        _ said: (any ComponentError)? = nil, credential: String? = nil
    ) -> BackplaneError {
        var failure = Failure.http(response.status, body)
        var words = ""
        if let said {
            let code = line(said.code)
            if !code.isEmpty { failure.code = code }
            failure.details.merge(bounded(said.details)) { own, _ in own }
            words = line(said.message)
        }
        if response.status == 412 {
            failure.details["etag"] = response.headers["ETag"]
            return BackplaneError(
                .networkConflict, words.isEmpty ? "the resource has another version than the request expects" : words,
                at: request.printableURL, failure: failure)
        }
        if words.isEmpty {
            words =
                "the response has the status \(response.status); expected \(valid.lowerBound) to \(valid.upperBound - 1)"
        }
        if let credential { words += "; sent with the credential `\(credential)`" }
        return BackplaneError(
            .networkStatus, words,
            at: request.printableURL, failure: failure)
    }

    /// Returns the error for a response with an invalid status whose body is not read.
    package static func status(_ status: Int, valid: Range<Int>, _ request: HTTPRequest) -> BackplaneError {
        .status(HTTPStreamedResponse(HTTPResponse(status: status)), valid: valid, request)
    }

    /// Returns a server's details, limited to 100 entries of up to 1,000 characters each.
    private static func bounded(_ details: [String: String]) -> [String: String] {
        var bounded: [String: String] = [:]
        for (name, value) in details.sorted(by: { $0.key < $1.key }).prefix(100) {
            bounded[String(name.prefix(100))] = String(value.prefix(1_000))
        }
        return bounded
    }

    /// Returns the first line of a server's message, shortened and without control characters.
    private static func line(_ text: String) -> String {
        let first = text.drop(while: \.isWhitespace).prefix { !$0.isNewline }
        let shown = first.unicodeScalars.filter { $0.properties.generalCategory != .control }
        return String(String.UnicodeScalarView(shown.prefix(300)))
    }

    /// Returns the error for a response that cannot be parsed.
    ///
    /// The error shows the beginning of a body in another format, such as a web page, but no values, which may be
    /// secret. The text of an error that is not intended for display is a confidential detail, because it may also
    /// contain values.
    ///
    /// - Parameter limit: The maximum number of bytes of the body that are kept.
    static func unparsable(
        _ response: HTTPResponse, _ request: HTTPRequest, _ error: any Error, keeping limit: Int
    ) -> BackplaneError {
        if var error = error as? BackplaneError, error.code == .networkEmpty {
            (error.location, error.failure) = (request.printableURL, .http(response.status))
            return error
        }
        var failure = Failure.http(response.status, KeptBody(response.body, upTo: limit))
        if error.isForeign { failure.details[".error"] = String("\(error)".prefix(1_000)) }
        let type = response.headers["Content-Type"].map { " of type `\($0.prefix(60))`" } ?? ""
        let start = mayShowValues(error, response.body) ? "" : " and begins with `\(beginning(response.body))`"
        return BackplaneError(
            .networkUnparsable,
            "the body\(type) cannot be parsed: \(explanation(error)); it has \(response.body.count) bytes\(start)",
            at: request.printableURL, failure: failure)
    }

    /// Returns whether a decoder has read all or part of the body, or the body begins like JSON.
    private static func mayShowValues(_ error: any Error, _ body: [UInt8]) -> Bool {
        let first = body.first { !" \t\r\n".utf8.contains($0) }
        if let first, "{[\"".utf8.contains(first) { return true }
        return switch error {
        case DecodingError.dataCorrupted(let context): !context.codingPath.isEmpty
        default: true
        }
    }

    private static func beginning(_ body: [UInt8]) -> String {
        let start = String(decoding: body.prefix(80), as: UTF8.self)
        return String(start.map { $0.isNewline || $0.isASCII && ($0.asciiValue ?? 32) < 32 ? " " : $0 })
    }

    static func explanation(_ error: any Error) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return path.isEmpty ? "" : " at `\(path.joined(separator: "/"))`"
        }
        return switch error {
        case DecodingError.keyNotFound(let key, let context): "the key `\(key.stringValue)` is missing\(place(context))"
        case DecodingError.typeMismatch(let type, let context): "expected \(type)\(place(context))"
        case DecodingError.valueNotFound(let type, let context): "found null; expected \(type)\(place(context))"
        case DecodingError.dataCorrupted(let context): context.debugDescription + place(context)
        case let error as BackplaneError: error.message
        case let error as any ComponentError: error.message
        default: "the error \(type(of: error)) was thrown; adopt ComponentError to report the reason"
        }
    }
}

/// The explanation of a response of the type `application/problem+json` (RFC 9457).
struct HTTPProblem: ComponentError, Decodable {
    /// The rule that decodes the explanation, regardless of the endpoint's decoder.
    static let failure = EndpointFailure { body, _ in
        try JSONDecoder.unchanged.decode(HTTPProblem.self, from: Data(body))
    }
    var code, message: String

    /// Decodes the members `code` or `type`, and `detail` or `title`.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        func text(_ key: String) throws -> String? { try values.decodeIfPresent(String.self, forKey: TextKey(key)) }
        let type = try text("type")
        code = try text("code") ?? (type == "about:blank" ? nil : type) ?? ""
        message = try text("detail") ?? text("title") ?? ""
    }
}

extension Error {
    fileprivate var isForeign: Bool {
        !(self is DecodingError || self is BackplaneError || self is any ComponentError)
    }
}

extension BackplaneError.Failure {
    package static func http(_ status: Int) -> Self { Self(code: "http", details: ["status": String(status)]) }

    static func http(_ status: Int, _ body: KeptBody?) -> Self {
        var failure = http(status)
        guard let bytes = body?.bytes, !bytes.isEmpty else { return failure }
        if let text = String(validating: bytes, as: UTF8.self) {
            failure.details[".body"] = text
        } else {
            failure.details[".body-base64"] = Data(bytes).base64EncodedString()
        }
        return failure
    }
}
