import BackplaneNetwork

extension HTTPStreamedResponse {
    /// Discards the response: reads a short body, so that the connection can be reused, and cancels a longer one.
    func discard() async {
        guard let length = contentLength, length <= 16 << 10 else { return body.cancel() }
        let body = body
        _ = try? await Race.run(
            { try await body.collect(upTo: 16 << 10) }, within: .seconds(1), otherwise: CancellationError())
    }

    /// The response without its body, which is in a file.
    var downloaded: HTTPResponse {
        get async {
            _ = try? await body.next()  // the end, after which there are trailer fields
            var response = HTTPResponse(status: status, headers: headers, trailers: trailers)
            response.timings = timings
            return response
        }
    }
}
