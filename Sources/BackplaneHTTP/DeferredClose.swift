#if Engines
import NIOCore
import NIOHTTP1

/// A handler that closes an HTTP/1.1 connection after the current event has been handled.
///
/// A server may respond and close the connection before it has received the whole request. AsyncHTTPClient then closes
/// the connection before it delivers the end of the response, which fails the unsent part of the request and with it
/// the response.
final class DeferredClose: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Adds the handler to a connection behind the encoder.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
            try pipeline.addHandler(DeferredClose(), position: .after(encoder))
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.eventLoop.assumeIsolated().execute { context.close(mode: mode, promise: promise) }
    }
}
#endif
