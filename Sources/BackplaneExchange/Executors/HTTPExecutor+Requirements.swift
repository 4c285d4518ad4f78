public import Backplane
public import BackplaneNetwork

extension HTTPRequest {
    /// Returns the capabilities that the request requires with these options.
    public func requirements(_ options: HTTPOptions) -> HTTPCapabilities {
        var needed: HTTPCapabilities = []
        if body.isStream { needed.insert(.streamedUploads) }
        if options.decompresses { needed.insert(.decompression) }
        if options.tls != nil { needed.insert(.tlsSettings) }
        if !body.isEmpty, method == "GET" || method == "HEAD" { needed.insert(.contentInGET) }
        return needed
    }
}

extension HTTPExecutor {
    /// Checks that the executor has the capabilities that a request needs; executors call this first.
    ///
    /// - Throws: `network.unsupported` with the names of the missing ones.
    public func require(_ request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) {
        let missing = request.requirements(options).subtracting(capabilities)
        guard missing.isEmpty else {
            throw BackplaneError(
                .networkUnsupported,
                "the request needs \(missing), which \(type(of: innermost)) does not have; nothing was sent",
                at: request.printableURL)
        }
    }
}
