import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// An exchange of a cassette, without secrets.
struct CassetteExchange: Sendable, Equatable {
    /// The parts of a request that must equal the parts of another one, as bytes.
    typealias Key = [[UInt8]]

    struct Request: Sendable, Equatable {
        var method, url: String
        var headers: HTTPHeaders
        var body: [UInt8]
    }
    var request: Request
    var status: Int
    var headers: HTTPHeaders
    var body: [UInt8]
}

private let redactedText = "REDACTED"

extension CassetteExchange.Request {
    /// Creates a request as it is recorded and compared, from one whose body is in memory.
    init(_ request: HTTPRequest, _ options: HTTPOptions) {
        method = request.method
        url = WebURL(request.url)?.redacted(options).text ?? "\(request.scheme):…"
        headers = [:]
        let harmless = Set(request.headers.forAnyone.fields.map(\.name))
        for field in request.headers.fields where !HTTPHeaders.ofFraming.contains(field.name.lowercased()) {
            let isShown = harmless.contains(field.name) && !options.proofFields.contains(field.name)
            headers.add(field.name, isShown ? field.value : redactedText)
        }
        if let type = request.body.mediaType, headers["Content-Type"] == nil { headers.add("Content-Type", type) }
        body = request.body.bytes ?? []
        if options.hidesBodies, !body.isEmpty { body = Array(redactedText.utf8) }
    }
}

extension CassetteExchange {
    /// Creates an exchange as it is recorded.
    init(_ request: Request, _ response: HTTPResponse, _ options: HTTPOptions) {
        (self.request, status, headers) = (request, response.status, [:])
        for field in response.headers.fields where !HTTPHeaders.ofFraming.contains(field.name.lowercased()) {
            let name = field.name.lowercased()
            switch name {
            case "location", "content-location": headers.add(field.name, field.value.redactedURL(options))
            case "link": headers.add(field.name, field.value.redactedLinks(options))
            default:
                headers.add(field.name, name.isSecretName || name.hasSuffix("cookie") ? redactedText : field.value)
            }
        }
        body = response.body
        guard options.hidesBodies, !body.isEmpty else { return }
        // The shape remains, so that the sign-in can be replayed.
        body = (try? DocumentValue(json: Data(body))).map { Array($0.redacted().json) } ?? Array(redactedText.utf8)
    }
}

extension HTTPHeaders {
    var withoutRedacted: HTTPHeaders {
        var shown: HTTPHeaders = [:]
        for field in fields where field.value != redactedText { shown.add(field.name, field.value) }
        return shown
    }
}

extension WebURL {
    /// Returns the URL without a user, and without the values of query parameters: of all if the bodies are hidden, or
    /// of the ones with names of secrets.
    fileprivate func redacted(_ options: HTTPOptions) -> WebURL {
        var url = self
        url.userInfo = nil
        url.query = query.map { query in
            query.split(separator: "&", omittingEmptySubsequences: false).map { field in
                let name = field.prefix { $0 != "=" }
                let isSecret =
                    options.hidesBodies || options.tokenParameters.contains(String(name))
                    || String(decoding: String(name).percentDecoded, as: UTF8.self).lowercased().isSecretName
                return isSecret && name.count < field.count ? "\(name)=\(redactedText)" : String(field)
            }.joined(separator: "&")
        }
        return url
    }
}

extension String {
    fileprivate func redactedURL(_ options: HTTPOptions) -> String {
        // A URL drops its fragment, which may be a token.
        let url = WebURL(self), redacted = url?.redacted(options), isPlain = url != nil && redacted == url
        return isPlain && !utf8.contains(UInt8(ascii: "#")) ? self : redacted?.text ?? redactedText
    }

    /// Returns the value of a `Link` field (RFC 8288) with its targets redacted.
    fileprivate func redactedLinks(_ options: HTTPOptions) -> String {
        var parts = split(separator: "<", omittingEmptySubsequences: false).map { String($0) }
        for index in parts.indices.dropFirst() {
            guard let end = parts[index].firstIndex(of: ">") else { continue }
            parts[index] = String(parts[index][..<end]).redactedURL(options) + parts[index][end...]
        }
        return parts.joined(separator: "<")
    }
}

extension DocumentValue {
    /// Returns the value with its strings and numbers redacted, except for the type and the lifetime of a token
    /// (RFC 6749, section 5.1).
    fileprivate func redacted(_ key: String = "") -> DocumentValue {
        switch self {
        case .string: key == "token_type" ? self : .string(redactedText)
        case .integer, .number: key == "expires_in" ? self : .integer(0)
        case .array(let values): .array(values.map { $0.redacted() })
        case .dictionary(let members):
            .dictionary(Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.redacted($0.key)) }))
        default: self
        }
    }
}

extension String {
    private static let secretNames: Set<String> = [
        "auth", "code", "jwt", "key", "pass", "sas", "session", "sid", "sig",
    ]
    private static let secretParts = [
        "access_key", "accesskey", "api-key", "api_key", "apikey", "assertion", "authorization", "credential", "jwt",
        "otp", "passphrase", "passw", "pwd", "saml", "secret", "sessid", "session", "signature", "ticket", "token",
        "verifier", "x-auth",
    ]
    /// Whether a field or a parameter with this name, in lower case, may be a secret.
    fileprivate var isSecretName: Bool {
        Self.secretNames.contains(self) || Self.secretParts.contains { self.contains($0) }
    }
}

extension CassetteExchange.Request {
    private func bytes(of part: Cassette.Part) -> [UInt8] {
        switch part {
        case .method: Array(method.utf8)
        case .url: Array(url.utf8)
        case .path: Array(url.utf8.prefix { $0 != UInt8(ascii: "?") })
        case .body: body
        }
    }

    func key(_ rule: [Cassette.Part]) -> CassetteExchange.Key { rule.map(bytes) }

    /// Returns numbers for ordering recorded requests: the greater they are, the more the requests resemble each other.
    func likeness(to asked: Self, _ rule: [Cassette.Part]) -> [Int] {
        [
            bytes(of: .path) == asked.bytes(of: .path) ? 1 : 0, rule.count - differences(from: asked, rule).count,
            zip(url.utf8, asked.url.utf8).prefix { $0 == $1 }.count,
        ]
    }

    func differences(from asked: Self, _ rule: [Cassette.Part]) -> [String] {
        rule.filter { bytes(of: $0) != asked.bytes(of: $0) }.map { part in
            part == .url && bytes(of: .path) == asked.bytes(of: .path) ? "query" : part.rawValue
        }
    }
}

/// The content of a cassette's file.
struct CassetteFile: Sendable {
    static let version: Int64 = 1
    /// The maximum size, which is the same for all documents.
    static let mostBytes = DocumentLimits.bytes
    private static let subject = DocumentSubject("cassette", root: "a cassette is a dictionary")
    var rule: [Cassette.Part]
    var exchanges: [CassetteExchange]

    static func text(_ rule: [Cassette.Part], _ exchanges: [[UInt8]]) -> [UInt8] {
        let match = rule.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        var text = Array("{\n  \"version\": \(version),\n  \"match\": [\(match)],\n  \"exchanges\": [".utf8)
        for (index, exchange) in exchanges.enumerated() {
            text += (index == 0 ? "\n    " : ",\n    ").utf8
            text += exchange
        }
        return text + (exchanges.isEmpty ? "]\n}\n" : "\n  ]\n}\n").utf8
    }

    /// - Throws: `network.mock`, located by `path`, line and column, and the JSON pointer.
    init(_ text: Data, _ path: String) throws(BackplaneError) {
        let root: DocumentValue?
        do throws(DocumentError) { root = try DocumentValue(json: text, as: Self.subject) } catch {
            let place = error.position.map { ":\($0.line):\($0.column)" } ?? ""
            throw BackplaneError(.networkMock, "the cassette is not valid JSON: \(error.reason)", at: path + place)
        }
        do throws(Misfit) {
            let members = try root.members(DocumentPath(), ["version", "match", "exchanges"])
            guard case .integer(let version)? = members["version"] else {
                throw Misfit(DocumentPath() / "version", "an integer", members["version"])
            }
            guard version == Self.version else {
                throw Misfit(
                    DocumentPath() / "version",
                    "the cassette has the version \(version), and this version of Backplane reads \(Self.version); "
                        + "record it again")
            }
            let matched = try members["match"].elements(DocumentPath() / "match")
            let parts = Cassette.Part.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            guard !matched.isEmpty else { throw Misfit(DocumentPath() / "match", "some of \(parts)", members["match"]) }
            rule = []
            for (index, word) in matched.enumerated() {
                let path = DocumentPath() / "match" / index
                guard let part = Cassette.Part(rawValue: try word.string(path)) else {
                    throw Misfit(path, "one of \(parts)", word)
                }
                rule.append(part)
            }
            exchanges = []
            let values = try members["exchanges"].elements(DocumentPath() / "exchanges")
            for (index, value) in values.enumerated() {
                exchanges.append(try CassetteExchange(value, DocumentPath() / "exchanges" / index))
            }
        } catch {
            let pointer = error.path.description, position = SourcePosition.positions(of: [pointer], in: text)[pointer]
            let place = position.map { ":\($0.line):\($0.column)" } ?? ""
            throw BackplaneError(
                .networkMock, error.words, at: "\(path)\(place)" + (pointer.isEmpty ? "" : ": \(pointer)"))
        }
    }
}

extension CassetteExchange {
    var encoded: [UInt8] {
        var asked = Self.written(request.headers, request.body), answered = Self.written(headers, body)
        (asked["method"], asked["url"]) = (.string(request.method), .string(request.url))
        answered["status"] = .integer(Int64(status))
        let value = DocumentValue.dictionary(["request": .dictionary(asked), "response": .dictionary(answered)])
        // The value is flat, and its strings escape what JSON cannot contain.
        let text = (try? value.encoded(as: .json, in: Order(), of: .document)) ?? value.json
        return Array(text.split(separator: UInt8(ascii: "\n")).joined(separator: Array("\n    ".utf8)))
    }

    private static func written(_ headers: HTTPHeaders, _ body: [UInt8]) -> [String: DocumentValue] {
        var members = ["headers": DocumentValue.array(headers.fields.map { .string("\($0.name): \($0.value)") })]
        guard !body.isEmpty else { return members }
        if let text = String(validating: body, as: UTF8.self) {
            members["body"] = .string(text)
        } else {
            members["base64"] = .string(Data(body).base64EncodedString())
        }
        return members
    }

    private struct Order: MemberOrder {
        private static let keys = ["request", "response", "method", "url", "status", "headers", "body", "base64"]
        var elements: Order { self }
        func member(_ key: String) -> Order { self }
        func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)] {
            Self.keys.compactMap { key in members[key].map { (key, $0) } }
        }
    }

    fileprivate init(_ value: DocumentValue?, _ path: DocumentPath) throws(Misfit) {
        let members = try value.members(path, ["request", "response"])
        let asked = path / "request", answered = path / "response"
        let request = try members["request"].members(asked, ["method", "url", "headers", "body", "base64"])
        let response = try members["response"].members(answered, ["status", "headers", "body", "base64"])
        self.request = Request(
            method: try request["method"].string(asked / "method"), url: try request["url"].string(asked / "url"),
            headers: try Self.headers(request, asked), body: try Self.body(request, asked))
        guard case .integer(let status)? = response["status"], (200...999).contains(status) else {
            throw Misfit(answered / "status", "a status from 200 to 999", response["status"])
        }
        self.status = Int(status)
        (headers, body) = (try Self.headers(response, answered), try Self.body(response, answered))
    }

    private static func headers(
        _ members: [String: DocumentValue], _ path: DocumentPath
    ) throws(Misfit) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        guard members["headers"] != nil else { return headers }
        for (index, field) in try members["headers"].elements(path / "headers").enumerated() {
            let path = path / "headers" / index
            let parts = try field.string(path).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { throw Misfit(path, "a field, `Name: value`", field) }
            headers.add(String(parts[0]), String(parts[1]))
        }
        return headers
    }

    private static func body(_ members: [String: DocumentValue], _ path: DocumentPath) throws(Misfit) -> [UInt8] {
        guard let encoded = members["base64"] else {
            return members["body"] == nil ? [] : Array(try members["body"].string(path / "body").utf8)
        }
        guard members["body"] == nil else {
            throw Misfit(path / "body", "there is a `body` and a `base64`; remove one of them")
        }
        guard let data = Data(base64Encoded: try members["base64"].string(path / "base64")) else {
            throw Misfit(path / "base64", "bytes in base64", encoded)
        }
        return Array(data)
    }
}

/// A value in a cassette that does not fit.
private struct Misfit: Error {
    var path: DocumentPath
    var words: String

    init(_ path: DocumentPath, _ words: String) { (self.path, self.words) = (path, words) }

    init(_ path: DocumentPath, _ expected: String, _ value: DocumentValue?) {
        let found =
            switch value {
            case .string(let text)?: "`\(text.prefix(60))`"
            case .integer(let number)?: "\(number)"
            case let value?: value.kind
            case nil: "nothing"
            }
        self.init(path, "expected \(expected), found \(found)")
    }
}

extension DocumentValue? {
    fileprivate func members(_ path: DocumentPath, _ keys: [String]) throws(Misfit) -> [String: DocumentValue] {
        guard case .dictionary(let members)? = self else { throw Misfit(path, "a dictionary", self) }
        for key in members.keys.sorted() where !keys.contains(key) {
            let question = NameSuggestions(for: key, among: keys).question.map { "; \($0)" } ?? ""
            throw Misfit(path / key, "the key `\(key)` has no meaning here\(question)")
        }
        return members
    }

    fileprivate func elements(_ path: DocumentPath) throws(Misfit) -> [DocumentValue?] {
        guard case .array(let elements)? = self else { throw Misfit(path, "an array", self) }
        return elements
    }

    fileprivate func string(_ path: DocumentPath) throws(Misfit) -> String {
        guard case .string(let text)? = self else { throw Misfit(path, "a string", self) }
        return text
    }
}
