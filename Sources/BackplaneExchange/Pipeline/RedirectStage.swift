import BackplaneNetwork

/// The stage that follows redirects, and chooses the executor and its settings again for each.
struct RedirectStage: PipelineStage {
    /// The executor of the first request.
    let first: any HTTPFileExecutor
    /// A function that returns the executor and the options for a redirected request.
    let choose: @Sendable (HTTPRequest, HTTPOptions) async throws -> (any HTTPFileExecutor, HTTPOptions)

    var inside: any HTTPExecutor { first }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await follow(request, options) { executor, request, options, _ in
            try await executor.open(request, options)
        }
    }

    func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        try await follow(request, options) { executor, request, options, redirection in
            HTTPStreamedResponse(
                try await executor.download(
                    request, to: path, options,
                    headed: { response in
                        redirection.ends(with: response.status, response.headers, of: request) && headed(response)
                    }, received: received))
        }.downloaded
    }

    private func follow(
        _ request: HTTPRequest, _ options: HTTPOptions,
        _ exchange: (any HTTPFileExecutor, HTTPRequest, HTTPOptions, Redirection) async throws -> HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        var (executor, request, options) = (first, request, options)
        var redirection = Redirection(limit: options.redirects)
        while true {
            let response = try await exchange(executor, request, options, redirection)
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
