import BackplaneNetwork

/// The stage that notifies observers of each attempt, and of the head of its response.
struct ObservationStage: PipelineStage {
    let next: any HTTPFileExecutor
    let observed: ObservedExchange

    var inside: any HTTPExecutor { next }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        observed.attempted(request)
        let response = try await next.open(request, options)
        observed.headed(response)
        return response
    }

    func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        observed.attempted(request)
        return try await next.download(request, to: path, options) { [observed] response in
            observed.headed(response)
            return headed(response)
        } received: {
            received($0)
        }
    }
}
