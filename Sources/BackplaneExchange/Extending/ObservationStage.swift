import BackplaneNetwork

/// The stage that notifies observers of each attempt, and of the head of its response.
struct ObservationStage: PipelineStage {
    let next: any HTTPExecutor
    let observed: ObservedExchange

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        observed.attempted(request)
        let response = try await next.open(request, options)
        observed.headed(response)
        return response
    }
}
