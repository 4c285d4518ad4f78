import Backplane
import BackplaneNetwork

/// The stage that writes bodies to files, unless the executor does so, and limits the time between their parts.
struct DownloadStage: PipelineStage {
    let next: any HTTPExecutor
    let clock: any DeadlineClock

    var inside: any HTTPExecutor { next }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try await next.open(request, options)
    }

    func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        guard let limit = options.readTimeout else {
            return try await write(request, to: path, options, headed: headed, received: received)
        }
        let last = Moment()  // the time of the last arrival
        return try await Race.run(by: clock) {
            try await write(request, to: path, options) { response in
                last.time = clock.moment
                return headed(response)
            } received: { count in
                last.time = clock.moment
                received(count)
            }
        } watchedBy: {
            // It counts from the head.
            guard let last = last.time else { return .again(clock.moment + max(limit, .milliseconds(100))) }
            let end = last + limit
            let late = HTTPFailure.late("sent none of the body", limit: limit)
            return end > clock.moment ? .again(end) : .over(late.error(for: request))
        }
    }

    private func write(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        if let next = next as? any HTTPFileExecutor {
            return try await next.download(request, to: path, options, headed: headed, received: received)
        }
        let response = try await next.open(request, options), limit = options.maximumBodySize ?? .max
        guard headed(response) else {
            await response.discard()
            return response.downloaded
        }
        let tooLarge = HTTPFailure.tooLarge(limit: limit)
        if let length = response.contentLength, length > limit, response.hasBody(for: request) {
            response.body.cancel()
            throw tooLarge.error(for: request)
        }
        let file = try IncomingFile(path)
        defer { file.discard() }
        var count = 0
        do {
            for try await chunk in response.body {
                count += chunk.count
                guard count <= limit else { throw tooLarge.error(for: request) }
                try file.write(chunk)
                received(chunk.count)
            }
        } catch {
            response.body.cancel()
            throw error
        }
        try Task.checkCancellation()  // an abandoned exchange is no longer awaited
        _ = try file.finish()
        return response.downloaded
    }
}
