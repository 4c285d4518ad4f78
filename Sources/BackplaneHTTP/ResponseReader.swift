#if Engines
import AsyncHTTPClient
import Backplane
import BackplaneExchange
import BackplaneNetwork
import NIOCore

/// The reader of a response's body; releasing its iterator ends the exchange.
///
/// `@unchecked`: its stream makes one call to `next` at a time, and none concurrently with `release`.
final class ResponseReader: @unchecked Sendable {
    private let request: HTTPRequest
    private let ratio: Int
    private let place: HostPlace
    private var use: ClientUse?
    private var iterator: HTTPClientResponse.Body.AsyncIterator?

    init(_ body: HTTPClientResponse.Body, of request: HTTPRequest, ratio: Int, holding: (HostPlace, ClientUse)) {
        (self.request, self.ratio, (place, use)) = (request, ratio, holding)
        iterator = body.makeAsyncIterator()
    }

    func next() async throws -> [UInt8]? {
        do {
            guard let buffer = try await iterator?.next() else {
                try Task.checkCancellation()
                release()
                return nil
            }
            return Array(buffer: buffer)
        } catch {
            release()
            try Task.checkCancellation()
            throw HTTPFailure(error, ratio: ratio).error(for: request)
        }
    }

    @Sendable func release() {
        iterator = nil
        place.end()
        use = nil
    }
}
#endif
