public import Backplane
import Synchronization

extension ComponentContext {
    /// Performs an exchange that the host has requested, with a function that opens it.
    ///
    /// Both bodies are streamed: the request's is pulled from the host as the function's engine reads it, and the
    /// response's is read as the host consumes it. Cancelling the task, as the host does when the exchange is no longer
    /// needed, cancels the function and releases the response.
    ///
    /// - Parameters:
    ///   - order: The request.
    ///   - heads: The sender of the stream with which the order arrived.
    ///   - isCollected: A Boolean value that indicates whether the request's body is read into memory first, for
    ///     engines that cannot send a body while they read it.
    ///   - open: A function that sends the request, and returns once the head of the response has arrived.
    /// - Throws: The errors of `open` and of the response's body; `host.interface-missing` with an older host.
    public func execute(
        _ order: HTTPOrder, _ heads: StreamSender<HTTPHead>, collecting isCollected: Bool = false,
        _ open: (HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse
    ) async throws {
        let bodies = try CarriedBodies(services)
        var request = HTTPRequest(order.method, order.url, headers: try HTTPHeaders(pairs: order.headers))
        if let body = order.body {
            request.body = .carried(bodies, body, order)
            if isCollected { request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit) }
        }
        var options = HTTPOptions()
        options.decompresses = order.decompresses
        let response = try await open(request, options)
        try await heads.send(
            HTTPHead(status: response.status, headers: response.headers, version: response.version))
        for try await chunk in response.body { try await bodies.push(chunk, to: order.response) }
        try await bodies.end(order.response)
    }
}

extension HTTPBody {
    /// Returns the body of an order, which can be read once.
    fileprivate static func carried(_ bodies: CarriedBodies, _ number: UInt64, _ order: HTTPOrder) -> HTTPBody {
        let once = Once()
        return .produced(length: order.length, isReplayable: false) {
            try once.take()
            return bodies.stream(number, length: order.length)
        }
    }
}
