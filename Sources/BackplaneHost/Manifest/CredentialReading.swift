import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork

/// The schemes of credentials, as named in manifests.
enum CredentialType: String, CaseIterable {
    case basic, digest, bearer, component

    var shape: ManifestShape {
        let own =
            switch self {
            case .basic: ["user", "password", "preemptive"]
            case .digest: ["user", "password"]
            case .bearer: ["secret", "signIn", "refresh", "token", "expires", "refreshToken", "keep", "places"]
            case .component: ["manager", "values"]
            }
        return ManifestShape(["type", "hosts", "managers", "cookies"] + own)
    }
}

extension ManifestReader {
    /// Reads the credentials by name.
    ///
    /// Every mistake is an error, because a default might send a secret to the wrong host.
    mutating func credentials(in section: Section) -> [String: Credential] {
        entries("credentials", in: section, most: ManifestLimits.credentials) { reader, name, path in
            if name.isEmpty { reader.report(.manifestWrongType, "a credential needs a name", at: path) }
            return !name.isEmpty
        } reading: { reader, own, _ in
            reader.credential(in: own)
        }
    }

    private mutating func credential(in section: Section) -> Credential? {
        if section.values["type"] == nil {
            report(.manifestMissingKey, "`type` is missing", at: section.path / "type")
        }
        guard let type = choice("type", of: CredentialType.allCases, in: section) else { return nil }
        reportUnknownKeys(in: section, known: type.shape, severity: .error)
        let hosts = hosts(in: section)
        let managers =
            section.values["managers"] == nil
            ? nil : strings("managers", in: section, most: ManifestLimits.managers) { _, _, _ in true }
        let hasCookies = boolean("cookies", in: section) ?? false
        let scheme: Credential.Scheme?
        switch type {
        case .basic:
            let isPreemptive = boolean("preemptive", in: section) ?? true
            scheme = .basic(login(in: section), isPreemptive: isPreemptive)
        case .digest: scheme = .digest(login(in: section))
        case .bearer: scheme = tokenSource(in: section).map { .bearer($0) }
        case .component:
            let values = values(in: section)
            scheme = requiredString("manager", in: section).map { .component($0, values: values) }
        }
        return scheme.map { Credential(hosts: hosts, $0, managers: managers, hasCookies: hasCookies) }
    }

    private mutating func hosts(in section: Section) -> [String] {
        if section.values["hosts"] == nil || section.values["hosts"] == .array([]) {
            report(
                .manifestMissingKey, "`hosts` is missing or empty; name the hosts that may be sent the credential",
                at: section.path / "hosts")
        }
        return strings("hosts", in: section, most: ManifestLimits.credentialHosts) { reader, host, path in
            if host.isHost(withPort: true) { return true }
            reader.report(
                .manifestWrongType,
                "expected a host's name in lower case, with or without a port, such as `books.example.org:8443`, found `\(reader.shown(host, at: path))`",
                at: path)
            return false
        }
    }

    private mutating func values(in section: Section) -> [String: Secret] {
        guard let section = dictionary("values", in: section, most: ManifestLimits.credentialValues) else { return [:] }
        var values: [String: Secret] = [:]
        for name in section.values.keys.sorted() { values[name] = secret(name, in: section) }
        return values
    }

    private mutating func login(in section: Section) -> Login {
        let user = secret("user", in: section), password = secret("password", in: section)
        if let user, user.revealed.utf8.contains(UInt8(ascii: ":")) {
            report(.manifestWrongType, "the name of a user must not contain a colon", at: section.path / "user")
        }
        return Login(user: user, password: password)
    }

    private mutating func tokenSource(in section: Section) -> TokenSource? {
        let known = ["secret", "signIn"].filter { section.values[$0] != nil }
        guard known.count == 1 else {
            report(
                known.isEmpty ? .manifestMissingKey : .manifestWrongType,
                "expected one of `signIn` and `secret`, found \(known.isEmpty ? "neither" : "both")", at: section.path)
            return nil
        }
        let places = tokenPlaces(in: section)
        if section.values["secret"] != nil {
            for key in ["refresh", "token", "expires", "refreshToken", "keep"] where section.values[key] != nil {
                report(.manifestWrongType, "`\(key)` needs `signIn`", at: section.path / key)
            }
            var source = secret("secret", in: section).map { TokenSource(secret: $0) }
            source?.places = places
            return source
        }
        let signIn = tokenRequest("signIn", in: section), refresh = tokenRequest("refresh", in: section)
        if section.values["token"] == nil {
            report(
                .manifestMissingKey, "`token` is missing: the JSON pointer of the token in an answer",
                at: section.path / "token")
        }
        let token = pointer("token", in: section), expires = pointer("expires", in: section)
        let refreshToken = pointer("refreshToken", in: section), isKept = boolean("keep", in: section) ?? false
        let unknown = (refresh?.names ?? []).subtracting(["token", "refreshToken"]).sorted()
        if let name = unknown.first {
            report(
                .manifestWrongType, "a refresh has the values `token` and `refreshToken`, not `\(name)`",
                at: section.path / "refresh")
        }
        guard let signIn, let token else { return nil }
        var source = TokenSource(
            signIn: signIn, refresh: refresh, token: token, expires: expires, refreshToken: refreshToken,
            isKept: isKept)
        source.places = places
        return source
    }

    /// Reads the places of a token in requests to certain hosts: for each, `scheme` or `query`.
    private mutating func tokenPlaces(in section: Section) -> [String: TokenPlace] {
        entries("places", in: section, most: ManifestLimits.credentialHosts) { reader, own, host in
            reader.reportUnknownKeys(in: own, known: .tokenPlace, severity: .error)
            let query = reader.string("query", in: own), scheme = reader.string("scheme", in: own)
            guard (query == nil) != (scheme == nil), let name = query ?? scheme, host.isHost(withPort: true),
                !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter)
            else {
                reader.report(
                    .manifestWrongType,
                    "expected a host, with or without a port, and either `query`, the name of a parameter, or `scheme`, a word before the token",
                    at: own.path)
                return nil
            }
            return query.map(TokenPlace.query) ?? .scheme(name)
        }
    }

    private mutating func tokenRequest(_ key: String, in section: Section) -> TokenRequest? {
        guard let section = dictionary(key, in: section) else { return nil }
        reportUnknownKeys(in: section, known: .tokenRequest, severity: .error)
        let method = string("method", in: section) ?? "POST"
        guard let url = requiredString("url", in: section) else { return nil }
        guard HTTPOrigin(url) != nil else {
            report(.manifestWrongType, "expected an `http:` or `https:` URL", at: section.path / "url")
            return nil
        }
        var content = TokenRequest.Content.none
        if section.values["json"] != nil, section.values["form"] != nil {
            report(.manifestWrongType, "expected one of `json` and `form`, found both", at: section.path)
        } else if let members = dictionary("json", in: section) {
            content = .json(templates(members))
        } else if let members = dictionary("form", in: section) {
            content = .form(templates(members))
        }
        let headers = dictionary("headers", in: section).map(templates) ?? [:]
        var request = TokenRequest(url, content, method: method, headers: headers)
        request.token = pointer("token", in: section)
        request.expires = pointer("expires", in: section)
        request.refreshToken = pointer("refreshToken", in: section)
        return request
    }

    private func templates(_ section: Section) -> [String: TokenTemplate] {
        section.values.mapValues(TokenTemplate.init(written:))
    }

    /// Reads a string that may be a secret and is not shown in any message.
    private mutating func secret(_ key: String, in section: Section) -> Secret? {
        guard let value = section.values[key], !unusable.contains(section.path / key) else { return nil }
        guard case .string(let text) = value else {
            return wrongType(value, expected: "a string", at: section.path / key)
        }
        guard text.utf8.count <= ManifestLimits.secretBytes, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            let words = "expected a string of at most \(ManifestLimits.secretBytes) bytes without control characters"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return Secret(text)
    }

    private mutating func pointer(_ key: String, in section: Section) -> String? {
        guard let text = string(key, in: section) else { return nil }
        guard text.hasPrefix("/") else {
            let path = section.path / key
            report(
                .manifestWrongType, "expected a JSON pointer such as `/token`, found `\(shown(text, at: path))`",
                at: path)
            return nil
        }
        return text
    }
}
