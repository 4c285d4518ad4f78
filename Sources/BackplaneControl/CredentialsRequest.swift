package import Backplane
package import BackplaneExchange
import BackplaneHost

/// A request about the accounts of a host's credentials, which exist only in the host.
package struct CredentialsRequest: ControlMessage {
    package static let name = "credentials"

    package enum Operation: String, Codable, CaseIterable, Sendable {
        case list
        case signIn = "sign-in"
        case signOut = "sign-out"
    }

    package struct Answer: Codable, Sendable {
        package var credentials: [CredentialStatus]?
        /// The principal, in the answer to `sign-in`: a 64-bit number in decimal digits.
        package var principal: String?
    }

    package var operation: Operation
    package var credential: String?
    /// The name of the account; `nil` for the unnamed account.
    package var account: String?
    /// The values of `sign-in`, which are secrets.
    package var values: [String: String]?

    package init(
        _ operation: Operation, credential: String? = nil, account: String? = nil, values: [String: String]? = nil
    ) {
        (self.operation, self.credential, self.account, self.values) = (operation, credential, account, values)
    }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        try await request.answer(through: host.network)
    }

    /// Performs the request.
    ///
    /// - Parameter network: The network that has the credentials.
    package func answer(through network: HTTPPipeline) async throws(BackplaneError) -> Answer {
        if operation == .list { return Answer(credentials: try network.credentials.status) }
        guard let credential else {
            throw BackplaneError(
                .controlMalformed, "`\(operation.rawValue)` requires `credential`", at: "/credential")
        }
        guard operation == .signIn else {
            try network.signOut(credential, account: account ?? "")
            return Answer()
        }
        let principal = try await network.signIn(credential, as: account ?? "", with: values ?? [:])
        return Answer(principal: "\(principal)")
    }
}

extension CredentialsRequest: CustomStringConvertible, CustomReflectable {
    /// The operation and the credential, without any value.
    package var description: String { "\(operation.rawValue) \(credential ?? "")" }

    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
