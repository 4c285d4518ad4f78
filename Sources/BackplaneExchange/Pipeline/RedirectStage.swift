import BackplaneNetwork

/// The stage that follows redirects, each through the choice of the executor and its settings again.
struct RedirectStage: HTTPExecutor {
    /// The executor of the first request.
    let first: any HTTPExecutor
    /// Returns the executor and the options for a request that a redirect asks for.
    let choose: @Sendable (HTTPRequest, HTTPOptions) async throws -> (any HTTPExecutor, HTTPOptions)

    var schemes: [String] { first.schemes }
    var capabilities: HTTPCapabilities { first.capabilities }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await follow(request, options) { executor, request, options in try await executor.open(request, options) }
    }

    func download(_ request: HTTPRequest, to path: String, _ options: HTTPOptions) async throws -> HTTPResponse {
        try await follow(request, options) { executor, request, options in
            HTTPStreamedResponse(try await executor.download(request, to: path, options))
        }.downloaded
    }

    private func follow(
        _ request: HTTPRequest, _ options: HTTPOptions,
        _ exchange: (any HTTPExecutor, HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        var (executor, request, options) = (first, request, options)
        var redirection = Redirection(limit: options.redirects)
        while true {
            let response = try await exchange(executor, request, options)
            do {
                guard let next = try redirection.next(after: response.status, response.headers, of: request) else {
                    return response
                }
                await response.discard()
                request = next
            } catch {
                response.body.cancel()
                throw error
            }
            (executor, options) = try await choose(request, options)
        }
    }
}
