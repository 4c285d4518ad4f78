public import Backplane
package import BackplaneNetwork

extension HTTPPipeline {
    /// Signs in an account of a credential, replacing the one with the same name.
    ///
    /// - Parameters:
    ///   - credential: The name of the credential.
    ///   - account: The name of the account, by which requests choose it.
    ///   - values: The values that the sign-in requires: `user` and `password`, or those named in its template. Of the
    ///     values for a bearer token and the token, only the token is stored.
    /// - Returns: The principal: an opaque number that changes with each sign-in.
    /// - Throws: `network.credential` if there is no such credential, or it requires other values; `network.sign-in` if
    ///   the server returns no token; other codes of the network; `call.cancelled`.
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

    /// Signs out an account of a credential; does nothing if it is not signed in.
    ///
    /// - Throws: `network.credential` if there is no such credential; `network.file` if a stored token cannot be
    ///   removed.
    public func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try credentials.accounts(of: credential).signOut(account)
    }

    /// Returns the principal of a request: an opaque number for its sender, the same for all requests of one sender.
    ///
    /// It is that of the account that the options choose, or else one derived from the request's own `Authorization`. 0
    /// represents a request without a sender.
    ///
    /// - Returns: `nil` if the principal cannot be determined, because the request has its own `Cookie` or there is no
    ///   hash function. Nothing may be shared between such requests.
    /// - Throws: `network.credential` if there is no such credential, or the account is not signed in.
    package func principal(
        of request: HTTPRequest, _ options: HTTPOptions = HTTPOptions()
    ) throws(BackplaneError) -> UInt64? {
        guard let name = options.credential else { return credentials.own.principal(of: request) }
        guard request.headers["Cookie"] == nil else { return nil }
        return try credentials.accounts(of: name).account(options.account ?? "").principal
    }

    /// Checks that a component may use a credential.
    ///
    /// - Throws: `network.credential` if no credential has this name, or it is not for the component's managers.
    package func requireCredential(_ name: String, for managers: [String]) throws(BackplaneError) {
        try credentials.require(name, for: managers)
    }

    /// Returns the stage for the credential chosen by the options; `nil` if they choose none.
    ///
    /// - Throws: `network.credential` if there is no such credential, or the account is not signed in.
    func credentialStage(
        around executor: any HTTPExecutor, _ options: HTTPOptions
    ) throws(BackplaneError) -> CredentialStage? {
        guard let name = options.credential else {
            guard options.account == nil else {
                throw BackplaneError(
                    .networkCredential, "the request specifies an account, but not its credential; specify both")
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
