import Backplane
public import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The template of a request for a token, filled in with the values of an account.
///
/// ```swift
/// TokenRequest(
///     "https://books.example.org/sessions", .json(["reader": .value("reader"), "password": .value("password")]))
/// ```
public struct TokenRequest: Sendable, Hashable {
    /// The body of a token request, before values are filled in.
    public enum Content: Sendable, Hashable {
        /// No content.
        case none
        /// A JSON object.
        case json([String: TokenTemplate])
        /// The fields of a form.
        case form([String: TokenTemplate])
    }
    /// The HTTP method, by default `POST`.
    public var method: String
    /// The URL, `http:` or `https:`.
    public var url: String
    /// The header fields.
    public var headers: [String: TokenTemplate]
    /// The template of the body.
    public var content: Content
    /// The JSON pointers in the response, where they differ from those of the ``TokenSource``.
    public var token, expires, refreshToken: String?

    /// Creates a request, by default a `POST` without header fields of its own.
    public init(
        _ url: String, _ content: Content = .none, method: String = "POST", headers: [String: TokenTemplate] = [:]
    ) {
        (self.method, self.url, self.headers, self.content) = (method, url, headers, content)
    }

    private var templates: [TokenTemplate] {
        let members: [String: TokenTemplate] =
            switch content {
            case .none: [:]
            case .json(let members), .form(let members): members
            }
        return Array(members.values) + Array(headers.values)
    }

    package var names: Set<String> { Set(templates.flatMap(\.names)) }

    /// The fixed texts of the templates, which may include a password.
    var texts: [Secret] { templates.flatMap(\.texts) }

    func request(with values: [String: Secret]) throws(BackplaneError) -> HTTPRequest {
        let missing = names.subtracting(values.keys).sorted().map { "`\($0)`" }
        guard missing.isEmpty else {
            throw BackplaneError(
                .networkSignIn, "the sign-in requires the values \(missing.joined(separator: ", ")), which are missing",
                at: HTTPRequest(method, url).printableURL)
        }
        var request = HTTPRequest(method, url)
        request.headers["Accept"] = "application/json"
        for (name, template) in headers.sorted(by: { $0.key < $1.key }) {
            request.headers[name] = template.text(with: values)
        }
        switch content {
        case .none: break
        case .json(let members):
            request.body = .bytes(
                Array(DocumentValue.dictionary(members.mapValues { $0.value(with: values) }).json),
                type: "application/json")
        case .form(let members):
            request.body = .form(
                members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value.text(with: values)) })
        }
        return request
    }
}

/// A part of the template of a token request.
public indirect enum TokenTemplate: Sendable, Hashable, ExpressibleByStringLiteral {
    /// A fixed string.
    case text(Secret)
    /// The value of an account with this name; in a refresh, also `refreshToken` or `token`.
    case value(String)
    /// A JSON value other than a string: a number, a Boolean value or `null`.
    case literal(DocumentValue)
    /// A list.
    case array([TokenTemplate])
    /// Parts by key.
    case object([String: TokenTemplate])

    /// Creates a fixed string from a literal.
    public init(stringLiteral value: String) { self = .text(Secret(value)) }

    var names: [String] {
        switch self {
        case .text, .literal: []
        case .value(let name): [name]
        case .array(let parts): parts.flatMap(\.names)
        case .object(let members): members.values.flatMap(\.names)
        }
    }

    var texts: [Secret] {
        switch self {
        case .text(let text): [text]
        case .literal, .value: []
        case .array(let parts): parts.flatMap(\.texts)
        case .object(let members): members.values.flatMap(\.texts)
        }
    }

    func value(with values: [String: Secret]) -> DocumentValue {
        document { name in values[name].map { .string($0.revealed) } ?? .null }
    }

    /// The part as written in a manifest: the value of an account as `{"value": NAME}`.
    package var written: DocumentValue { document { .dictionary(["value": .string($0)]) } }

    private func document(_ value: (String) -> DocumentValue) -> DocumentValue {
        switch self {
        case .text(let text): .string(text.revealed)
        case .value(let name): value(name)
        case .literal(let value): value
        case .array(let parts): .array(parts.map { $0.document(value) })
        case .object(let members): .dictionary(members.mapValues { $0.document(value) })
        }
    }

    /// Returns the part as the value of a form or of a header field.
    func text(with values: [String: Secret]) -> String {
        switch value(with: values) {
        case .string(let text): text
        case let other: String(decoding: other.json, as: UTF8.self)
        }
    }

    /// Creates a part from its form in a manifest.
    package init(written value: DocumentValue) {
        switch value {
        case .string(let text): self = .text(Secret(text))
        case .dictionary(let members):
            if members.count == 1, case .string(let name)? = members["value"] {
                self = .value(name)
            } else {
                self = .object(members.mapValues(TokenTemplate.init(written:)))
            }
        case .array(let values): self = .array(values.map(TokenTemplate.init(written:)))
        default: self = .literal(value)
        }
    }
}

extension TokenRequest: Concealing {
    /// The method and the URL, without any secret.
    public var description: String { "\(method) \(HTTPRequest(method, url).printableURL)" }
}

extension TokenTemplate: Concealing {
    /// An ellipsis, because any part may be a secret.
    public var description: String { "…" }
}

/// The token files that survive a restart and that only their owner may read.
struct KeptTokens: Sendable {
    struct Entry: Sendable {
        var principal: UInt64
        var token: BearerToken
    }
    private struct File: Codable {
        /// The fingerprint of the credential for which the token was issued.
        var definition: String
        var credential, account: String
        var principal: UInt64
        var token: String
        var refreshToken: String?
        /// The time since 1970, in seconds.
        var renewal: Double?
    }
    /// A function that returns the folder, and creates it if necessary.
    let folder: @Sendable () throws(BackplaneError) -> String
    private let swept = SweptFolders()

    /// Returns the stored token of an account; `nil` if there is none, or it was issued for another credential.
    func entry(of account: String, _ credential: String, _ definition: Credential) throws(BackplaneError) -> Entry? {
        guard let file = Self.file(try path(of: account, credential)), file.definition == fingerprint(of: definition)
        else { return nil }
        let token = BearerToken(
            Secret(file.token), refreshToken: file.refreshToken.map { Secret($0) },
            renewal: file.renewal.map { Date(timeIntervalSince1970: $0) })
        return Entry(principal: file.principal, token: token)
    }

    private static func file(_ path: String) -> File? {
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= BearerToken.mostAnswerBytes else {
            return nil
        }
        return try? JSONDecoder().decode(File.self, from: bytes)
    }

    func accounts(
        of credential: String, _ definition: Credential
    ) throws(BackplaneError) -> [(name: String, principal: UInt64)] {
        let folder = try folder(), names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw BackplaneError(.networkFile, "the stored tokens cannot be listed", at: folder)
        }
        let fingerprint = fingerprint(of: definition)
        return names.prefix(CredentialAccounts.most).filter { $0.hasSuffix(".json") }
            .compactMap { Self.file(folder + "/" + $0) }
            .filter { $0.credential == credential && $0.definition == fingerprint }
            .map { ($0.account, $0.principal) }
    }

    func keep(
        _ entry: Entry, of account: String, _ credential: String, _ definition: Credential
    ) throws(BackplaneError) {
        let token = entry.token
        let content = File(
            definition: fingerprint(of: definition), credential: credential, account: account,
            principal: entry.principal, token: token.value.revealed, refreshToken: token.refreshToken?.revealed,
            renewal: token.renewal?.timeIntervalSince1970)
        let file = try IncomingFile(path(of: account, credential))
        try file.write((try? JSONEncoder().encode(content)) ?? Data())  // text and numbers always encode
        _ = try file.finish()
    }

    func remove(_ account: String, _ credential: String) throws(BackplaneError) {
        let path = try path(of: account, credential)
        // Includes a token that a killed process was writing.
        swept.sweep(beside: path)
        guard FileManager.default.fileExists(atPath: path) else { return }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw BackplaneError(.networkFile, "the stored token cannot be removed", at: path)
        }
    }

    private func path(of account: String, _ credential: String) throws(BackplaneError) -> String {
        // The name is unique, whatever the length and the characters of its parts.
        try folder() + "/" + hexadecimal("\(credential.utf8.count):\(credential)\(account)") + ".json"
    }

    private func fingerprint(of definition: Credential) -> String { hexadecimal(definition.identity) }

    private func hexadecimal(_ text: String) -> String {
        ContentDigest.sha256(of: Array(text.utf8)).hexadecimal
    }
}

extension Credential {
    /// The parts of the credential that determine the user and the hosts of a token; the text contains secrets.
    fileprivate var identity: String {
        guard case .bearer(let source) = scheme, let signIn = source.signIn else { return "" }
        let content: DocumentValue
        switch signIn.content {
        case .none: content = .null
        case .json(let members): content = .dictionary(["json": .dictionary(members.mapValues(\.written))])
        case .form(let members): content = .dictionary(["form": .dictionary(members.mapValues(\.written))])
        }
        let value = DocumentValue.array([
            .array(hosts.sorted().map { .string($0) }), .string(signIn.method), .string(signIn.url),
            .dictionary(signIn.headers.mapValues(\.written)), content, .string(source.refresh?.url ?? ""),
        ])
        return String(decoding: value.json, as: UTF8.self)
    }
}
