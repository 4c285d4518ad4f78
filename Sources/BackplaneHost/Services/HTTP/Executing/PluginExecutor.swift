import Backplane
import BackplaneExchange
import BackplaneNetwork

/// An executor that a plugin provides, in its state at the start of one exchange.
struct PluginExecutor: HTTPExecutor {
    /// The name in the manifest, which is also the URL scheme that it serves.
    let name: String
    let capabilities: HTTPCapabilities
    private let remote: Remote<HTTPExecuting>
    private let call: Call

    /// Finds an executor, and requests its capabilities.
    ///
    /// - Parameters:
    ///   - call: The call for which the exchange is made.
    ///   - find: A function that returns the manager, starting it if necessary.
    /// - Throws: `network.failed` if it does not start, or does not answer.
    init(
        _ name: String, _ call: Call, _ find: () async throws(BackplaneError) -> Remote<HTTPExecuting>
    ) async throws(BackplaneError) {
        (self.name, self.call) = (name, call)
        do throws(BackplaneError) {
            remote = try await find()
            // TLS is the host's: an order does not carry its settings.
            capabilities = try await remote.capabilities(call).subtracting(.tlsSettings)
        } catch {
            throw error.ofExecutor(name, at: nil)
        }
    }

    var schemes: [String] { [name] }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        let missing = request.requirements(options).subtracting(capabilities)
        guard missing.isEmpty else {
            throw BackplaneError(
                .networkUnsupported,
                "the request needs \(missing), which the executor `\(name)` does not have; nothing was sent",
                at: request.printableURL)
        }
        let ready = try request.readyToSend(by: name)
        try Task.checkCancellation()
        return try await PluginExchange(ready, options, of: name).open(remote, call)
    }
}

extension BackplaneError {
    /// Converts the error of an executor's component into that of an exchange.
    ///
    /// - Parameter url: The URL without its secrets, for errors without a location.
    func ofExecutor(_ name: String, at url: String?) -> BackplaneError {
        // The deadline is that of the exchange.
        if code == .callDeadline { return self }
        if code.rawValue.hasPrefix("network.") {
            var error = self
            error.location = location ?? url
            return error
        }
        // Heads and answers that are none: a later exchange would not fare better.
        if code == .callInvalidOutput || code == .callInvalidInput {
            return BackplaneError(
                .networkMalformed, "the executor `\(name)` returned no valid response: \(message)", at: url,
                causes: [self])
        }
        let reason =
            switch code {
            case .streamInterrupted, .callRetired: "was replaced or stopped before the response was complete"
            default: "failed: \(message)"
            }
        return BackplaneError(.networkFailed, "the executor `\(name)` \(reason)", at: url, causes: [self])
    }
}
