import BackplaneNetwork

/// The stage that runs the filters of attempts, next to the executor.
struct FilterStage: PipelineStage {
    let next: any HTTPFileExecutor
    let filters: FilterRun

    var inside: any HTTPExecutor { next }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await next.open(try await filters.attempt(request, hiding: options.proofFields), options)
    }

    func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        try await next.download(
            try await filters.attempt(request, hiding: options.proofFields), to: path, options, headed: headed,
            received: received)
    }
}
