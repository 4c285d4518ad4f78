import BackplaneNetwork

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
        response.timings = timings
        guard read == nil else { return response }
        body.cancel()
        response.headers["Content-Length"] = nil
        return response
    }

    /// The response without its body, which is in a file.
    var downloaded: HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers)
        response.timings = timings
        return response
    }
}
