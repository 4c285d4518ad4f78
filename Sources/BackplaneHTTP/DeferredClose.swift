#if Engines
import NIOCore
import NIOHTTP1

/// A handler that closes an HTTP/1.1 connection after the event at hand has been handled.
///
/// A server may answer and close before it has received the whole request. AsyncHTTPClient then closes the connection
/// before it hands over the end of the response. That fails what was not sent, and with it the response.
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
