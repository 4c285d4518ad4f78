import BackplaneNetwork

/// The stage that runs the filters of attempts, next to the executor.
struct FilterStage: PipelineStage {
    let next: any HTTPExecutor
    let filters: FilterRun

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await next.open(try await filters.attempt(request, hiding: options.proofFields), options)
    }
}
