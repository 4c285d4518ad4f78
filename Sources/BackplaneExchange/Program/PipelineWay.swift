import Backplane
import BackplaneNetwork

/// The way of the exchanges of a program without plugins: through its own pipeline.
struct PipelineWay: HTTPWay {
    let pipeline: HTTPPipeline

    func send(
        _ request: HTTPRequest, upTo limit: Int, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        try await within(call, options) { options in try await pipeline.send(request, upTo: limit, options) }
    }

    func open(
        _ request: HTTPRequest, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPStreamedResponse {
        try await within(call, options) { options in try await pipeline.open(request, options) }
    }

    func download(
        _ request: HTTPRequest, to path: String, _ call: Call, _ options: HTTPOptions
    ) async throws(BackplaneError) -> HTTPResponse {
        try await within(call, options) { options in try await pipeline.download(request, to: path, options) }
    }

    func file(_ path: String) -> String { path }

    /// Makes an exchange that ends at the call's deadline at the latest.
    private func within<Response>(
        _ call: Call, _ options: HTTPOptions, _ exchange: (HTTPOptions) async throws -> Response
    ) async throws(BackplaneError) -> Response {
        var options = options
        options.call = call
        if let left = call.timeLeft {
            guard left > .zero else { throw .deadlinePassed(before: "the exchange began") }
            options.totalTimeout = min(left, options.totalTimeout ?? left)
        }
        do {
            return try await exchange(options)
        } catch {
            if let left = call.timeLeft, left <= .zero { throw .deadlinePassed(before: "there was a response") }
            throw BackplaneError(thrown: error)
        }
    }
}
