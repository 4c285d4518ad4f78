public import Backplane

extension HTTPClient {
    /// Signs in an account of a credential, replacing the one with the same name.
    ///
    /// ```swift
    /// try await http.signIn("library", as: "ann", with: ["reader": "ann", "password": password], call)
    /// options.credential = "library"
    /// options.account = "ann"
    /// ```
    ///
    /// The host stores the account for all components that may use the credential, across swaps. For a bearer token, it
    /// does not store the values.
    ///
    /// - Parameters:
    ///   - credential: The name of the credential in the manifest's `network.credentials`.
    ///   - account: The name of the account, by which requests choose it.
    ///   - values: The values that the sign-in requires: `user` and `password`, or those named in its template.
    ///   - call: The call being served, whose deadline applies.
    /// - Returns: The principal: an opaque number that changes with each sign-in.
    /// - Throws: `network.credential` if there is no such credential, it is not for this component, or it requires
    ///   other values; `network.sign-in` if the server returns no token; other codes of the network; `call.deadline`;
    ///   `call.cancelled`; `role.forbidden`; `call.retired` once the component has stopped.
    @discardableResult
    public func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        try await way.signIn(credential, as: account, with: values, call)
    }

    /// Signs out an account of a credential, for all components; does nothing if it is not signed in.
    ///
    /// - Throws: `network.credential` if there is no such credential, or it is not for this component; `network.file`
    ///   if its stored token cannot be removed; `role.forbidden`; `call.retired`.
    public func signOut(_ credential: String, account: String) throws(BackplaneError) {
        try way.signOut(credential, account: account)
    }
}
