public import Backplane
import BackplaneNetwork

extension HTTPPipeline {
    /// Signs an account of a credential in, in place of the one that had its name.
    ///
    /// - Parameters:
    ///   - credential: The name of the credential.
    ///   - account: The name of the account, by which requests choose it.
    ///   - values: The values that the sign-in needs: `user` and `password`, or those that its template names. Of the
    ///     values for a bearer token only the token is kept.
    /// - Returns: The principal: an opaque number that is another one after each sign-in.
    /// - Throws: `network.credential` if there is no such credential, or it takes other values; `network.sign-in` if
    ///   the server gives no token; other codes of the network; `call.cancelled`.
    @discardableResult
    public func signIn(
        _ credential: String, as account: String, with values: [String: String]
    ) async throws(BackplaneError) -> UInt64 {
        let accounts = try credentials.accounts(of: credential)
        do {
            return try await accounts.signIn(account, with: values.mapValues { Secret($0) }, over: self)
        } catch {
            throw error is CancellationError
                ? BackplaneError(.callCancelled, "the sign-in was cancelled") : BackplaneError(thrown: error)
        }
    }

    /// Signs an account of a credential out; one that is not signed in stays so.
    ///
    /// - Throws: `network.credential` if there is no such credential; `network.file` if a kept token cannot be removed.
    public func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try credentials.accounts(of: credential).signOut(account)
    }

    /// Checks that a component may use a credential.
    ///
    /// - Throws: `network.credential` if there is none of this name, or it is not for the component's managers.
    package func requireCredential(_ name: String, for managers: [String]) throws(BackplaneError) {
        try credentials.require(name, for: managers)
    }

    /// Returns the stage of the credential that options choose; `nil` if they choose none.
    ///
    /// - Throws: `network.credential` if there is no such credential, or the account is not signed in.
    func credentialStage(
        around executor: any HTTPFileExecutor, _ options: HTTPOptions
    ) throws(BackplaneError) -> CredentialStage? {
        guard let name = options.credential else {
            guard options.account == nil else {
                throw BackplaneError(.networkCredential, "the request names an account, and no credential that has it")
            }
            return nil
        }
        let accounts = try credentials.accounts(of: name)
        try credentials.requirePassable(accounts)
        let account = try accounts.account(options.account ?? "")
        return CredentialStage(
            next: executor, credential: accounts.definition, name: name, authenticator: account.authenticator,
            jar: account.jar,
            network: self)
    }
}
