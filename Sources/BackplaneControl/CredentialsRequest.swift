package import Backplane
package import BackplaneExchange
import BackplaneHost

/// A request about the accounts of a host's credentials, which exist only in the host.
package struct CredentialsRequest: ControlMessage {
    package static let name = "credentials"

    /// The operation, one of `list`, `sign-in` and `sign-out`.
    package var operation: String
    /// The name of the credential, for `sign-in` and `sign-out`.
    package var credential: String?
    /// The name of the account; `nil` for the unnamed account.
    package var account: String?
    /// The values of `sign-in`, which are secrets.
    package var values: [String: String]?

    package struct Answer: Codable, Sendable {
        /// The credentials, in the answer to `list`.
        package var credentials: [CredentialForm]?
        /// The principal, in the answer to `sign-in`: a 64-bit number in decimal digits.
        package var principal: String?

        private enum CodingKeys: String, CodingKey { case credentials = "credentials", principal = "principal" }
    }

    package init(
        _ operation: String, credential: String? = nil, account: String? = nil, values: [String: String]? = nil
    ) {
        (self.operation, self.credential, self.account, self.values) = (operation, credential, account, values)
    }

    private enum CodingKeys: String, CodingKey {
        case operation = "operation", credential = "credential", account = "account", values = "values"
    }
}

extension CredentialsRequest: CustomStringConvertible, CustomReflectable {
    /// The operation and the credential, without any value.
    package var description: String { "\(operation) \(credential ?? "")" }

    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The JSON form of a credential, without any secret.
package struct CredentialForm: Codable, Sendable {
    /// The JSON form of an account.
    package struct Account: Codable, Sendable {
        package var name: String
        /// The principal in decimal digits.
        package var principal: String
        /// A Boolean value that indicates whether only the account's stored token is known so far.
        package var kept: Bool

        private enum CodingKeys: String, CodingKey { case name = "name", principal = "principal", kept = "kept" }
    }
    package var name: String
    package var type: String
    package var hosts: [String]
    package var managers: [String]?
    /// The names of the values that a sign-in requires.
    package var values: [String]
    /// A Boolean value that indicates whether a sign-in accepts arbitrary additional values.
    package var takesAnyValues: Bool
    /// A Boolean value that indicates whether tokens are stored across restarts.
    package var keepsTokens: Bool
    package var accounts: [Account]

    package init(_ status: CredentialStatus) {
        (name, type, hosts, managers) = (status.name, status.type, status.hosts, status.managers)
        (values, takesAnyValues, keepsTokens) = (status.values, status.takesAnyValues, status.keepsTokens)
        accounts = status.accounts.map { Account(name: $0.name, principal: "\($0.principal)", kept: $0.isKept) }
    }

    private enum CodingKeys: String, CodingKey {
        case name = "name", type = "type", hosts = "hosts", managers = "managers", values = "values"
        case takesAnyValues = "takesAnyValues", keepsTokens = "keepsTokens", accounts = "accounts"
    }
}

extension CredentialsRequest {
    /// The handler of every host.
    static let handler = ControlRequest(CredentialsRequest.self) { host, request throws(BackplaneError) in
        try await request.answer(through: host.network)
    }

    /// Performs the request.
    ///
    /// - Parameter network: The network that has the credentials.
    package func answer(through network: HTTPPipeline) async throws(BackplaneError) -> Answer {
        switch operation {
        case "list": return Answer(credentials: try network.credentialStatus.map(CredentialForm.init))
        case "sign-in":
            let principal = try await network.signIn(try given(), as: account ?? "", with: values ?? [:])
            return Answer(principal: "\(principal)")
        case "sign-out":
            try network.signOut(try given(), account: account ?? "")
            return Answer()
        default:
            throw BackplaneError(
                .controlMalformed,
                "expected one of `list`, `sign-in` and `sign-out`, found \(operation.debugDescription)",
                at: "/operation")
        }
    }

    private func given() throws(BackplaneError) -> String {
        if let credential { return credential }
        throw BackplaneError(.controlMalformed, "`\(operation)` requires `credential`", at: "/credential")
    }
}
