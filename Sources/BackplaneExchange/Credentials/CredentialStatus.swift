import Backplane

/// The state of a credential for display: its hosts, its sign-in values and the signed-in accounts.
package struct CredentialStatus: Codable, Sendable {
    /// An account that is signed in or whose token is stored.
    package struct Account: Codable, Sendable {
        package var name: String
        /// The principal, a 64-bit number, in decimal digits.
        package var principal: String
        /// A Boolean value that indicates whether the account is only on disk, because no request has chosen it yet.
        package var isKept: Bool
    }
    package var name: String
    /// The scheme, as the manifest names it.
    package var type: String
    package var hosts: [String]
    /// The managers whose components may use the credential; `nil` means all.
    package var managers: [String]?
    /// The names of the values that a sign-in requires, sorted.
    package var values: [String]
    /// A Boolean value that indicates whether a sign-in accepts arbitrary additional values.
    package var takesAnyValues: Bool
    /// A Boolean value that indicates whether tokens are stored across restarts.
    package var keepsTokens: Bool
    package var accounts: [Account]
}

extension Credentials {
    /// The states of all credentials, by name.
    ///
    /// - Throws: `network.file` if the stored tokens cannot be listed.
    package var status: [CredentialStatus] {
        get throws(BackplaneError) {
            var list: [CredentialStatus] = []
            for name in names { list.append(try accounts(of: name).status) }
            return list
        }
    }
}

extension HTTPPipeline {
    /// The states of the credentials that requests may choose, by name.
    ///
    /// - Throws: `network.file` if the stored tokens cannot be listed.
    package var credentialStatus: [CredentialStatus] {
        get throws(BackplaneError) { try credentials.status }
    }
}

extension CredentialAccounts {
    fileprivate var status: CredentialStatus {
        get throws(BackplaneError) {
            var accounts = signedIn.map {
                CredentialStatus.Account(name: $0.name, principal: "\($0.principal)", isKept: false)
            }
            for entry in try keptAccounts where !accounts.contains(where: { $0.name == entry.name }) {
                accounts.append(.init(name: entry.name, principal: "\(entry.principal)", isKept: true))
            }
            return CredentialStatus(
                name: name, type: definition.scheme.description, hosts: definition.hosts,
                managers: definition.managers, values: definition.scheme.signInValues.sorted(),
                takesAnyValues: definition.scheme.takesAnyValues, keepsTokens: definition.scheme.keepsTokens,
                accounts: accounts.sorted { $0.name < $1.name })
        }
    }
}

extension Credential.Scheme {
    /// The names of the values that a sign-in needs.
    fileprivate var signInValues: Set<String> {
        switch self {
        case .basic(let login, _), .digest(let login):
            var names: Set<String> = []
            if login.user == nil { names.insert("user") }
            if login.password == nil { names.insert("password") }
            return names
        case .bearer(let source): return source.signIn?.names ?? []
        case .custom, .component: return []
        }
    }

    /// A Boolean value that indicates whether tokens are stored across restarts.
    var keepsTokens: Bool {
        if case .bearer(let source) = self { source.isKept } else { false }
    }
}
