import BackplaneDocuments
import BackplaneExchange

extension Credential {
    /// The credential as written in a manifest, with its secrets.
    var value: ManifestValue {
        var members: [String: ManifestValue] = ["hosts": .array(hosts.map { .string($0) })]
        members["managers"] = managers.map { .array($0.map { .string($0) }) }
        if hasCookies { members["cookies"] = true }
        switch scheme {
        case .basic(let login, let isPreemptive):
            members["type"] = .string(CredentialType.basic.rawValue)
            members.merge(login.members) { $1 }
            if !isPreemptive { members["preemptive"] = false }
        case .digest(let login):
            members["type"] = .string(CredentialType.digest.rawValue)
            members.merge(login.members) { $1 }
        case .bearer(let source):
            members["type"] = .string(CredentialType.bearer.rawValue)
            members.merge(source.members) { $1 }
        case .component(let manager, let values):
            members["type"] = .string(CredentialType.component.rawValue)
            members["manager"] = .string(manager)
            if !values.isEmpty { members["values"] = .dictionary(values.mapValues { .string($0.revealed) }) }
        case .custom(let scheme):
            // No manifest can have the functions of a program; the name says which are missing.
            members["type"] = .string(scheme.name)
        }
        return .dictionary(members)
    }
}

extension Login {
    fileprivate var members: [String: ManifestValue] {
        var members: [String: ManifestValue] = [:]
        members["user"] = user.map { .string($0.revealed) }
        members["password"] = password.map { .string($0.revealed) }
        return members
    }
}

extension TokenSource {
    fileprivate var members: [String: ManifestValue] {
        if let secret { return ["secret": .string(secret.revealed)] }
        var members: [String: ManifestValue] = ["token": .string(token)]
        members["signIn"] = signIn?.value
        members["refresh"] = refresh?.value
        members["expires"] = expires.map { .string($0) }
        members["refreshToken"] = refreshToken.map { .string($0) }
        if isKept { members["keep"] = true }
        return members
    }
}

extension TokenRequest {
    fileprivate var value: ManifestValue {
        func written(_ members: [String: TokenTemplate]) -> ManifestValue {
            .dictionary(members.mapValues { ManifestValue($0.written) })
        }
        var members: [String: ManifestValue] = ["url": .string(url)]
        if method != "POST" { members["method"] = .string(method) }
        if !headers.isEmpty { members["headers"] = written(headers) }
        switch content {
        case .none: break
        case .json(let parts): members["json"] = written(parts)
        case .form(let parts): members["form"] = written(parts)
        }
        return .dictionary(members)
    }
}
