import BackplaneNetwork

/// A stage of the pipeline, which has the schemes and the capabilities of the executor inside it.
protocol PipelineStage: HTTPExecutor {
    /// The executor or the stage inside.
    var next: any HTTPExecutor { get }
}

extension PipelineStage {
    var schemes: [String] { next.schemes }
    var capabilities: HTTPCapabilities { next.capabilities }
}

extension HTTPExecutor {
    /// The executor inside all stages.
    var innermost: any HTTPExecutor { (self as? any PipelineStage)?.next.innermost ?? self }
}

extension HTTPStreamedResponse {
    /// Discards the response, reading a short body so that the connection can be reused, and cancelling a longer one.
    func discard() async {
        guard let length = contentLength, length <= 16 << 10 else { return body.cancel() }
        let body = body
        _ = try? await Race.run(
            { try await body.collect(upTo: 16 << 10) }, within: .seconds(1), otherwise: CancellationError())
    }

    /// Reads a body with a short announced length into memory, so that the connection can be reused; drops other
    /// bodies.
    func kept() async -> HTTPStreamedResponse {
        let body = body
        var read: [UInt8]?
        if let length = contentLength, length <= 16 << 10 {
            read = try? await Race.run(
                { try await body.collect(upTo: 16 << 10) }, within: .seconds(5), otherwise: CancellationError())
        }
        var response = HTTPStreamedResponse(
            status: status, headers: headers, version: version,
            body: HTTPBodyStream(read ?? []))
        (response.url, response.timings) = (url, timings)
        guard read == nil else { return response }
        body.cancel()
        response.headers["Content-Length"] = nil
        return response
    }
}
