public import Backplane

extension HTTPClient {
    /// Signs an account of a credential in, in place of the one that had its name.
    ///
    /// ```swift
    /// try await http.signIn("library", as: "ann", with: ["reader": "ann", "password": password], call)
    /// options.credential = "library"
    /// options.account = "ann"
    /// ```
    ///
    /// The host holds the account for all components that may use the credential, also when plugins are swapped. For a
    /// bearer token it does not hold the values.
    ///
    /// - Parameters:
    ///   - credential: The name of the credential in the manifest's `network.credentials`.
    ///   - account: The name of the account, by which requests choose it.
    ///   - values: The values that the sign-in needs: `user` and `password`, or those that its template names.
    ///   - call: The call being served, whose deadline applies.
    /// - Returns: The principal: an opaque number that is another one after each sign-in.
    /// - Throws: `network.credential` if there is no such credential, it is not for this component, or takes other
    ///   values; `network.sign-in` if the server gives no token; other codes of the network; `call.deadline`;
    ///   `call.cancelled`; `role.forbidden`; `call.retired` once the component has stopped.
    @discardableResult
    public func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        try await way.signIn(credential, as: account, with: values, call)
    }

    /// Signs an account of a credential out, for all components; one that is not signed in stays so.
    ///
    /// - Throws: `network.credential` if there is no such credential, or it is not for this component; `network.file`
    ///   if its kept token cannot be removed; `role.forbidden`; `call.retired`.
    public func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try way.signOut(credential, account: account)
    }
}
