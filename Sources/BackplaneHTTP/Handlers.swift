#if Engines
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// A handler that copies the content of each HTTP/2 frame to a separate buffer.
///
/// The decoder passes on slices of the received buffers, and a slice retains its whole buffer. Frames that wait for a
/// slow reader, up to the window of 8 MB, would retain many times that size.
final class CompactFrames: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations, decoder = try pipeline.handler(type: NIOHTTP2Handler.self)
            try pipeline.addHandler(CompactFrames(), position: .after(decoder))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = unwrapInboundIn(data)
        if case .data(var content) = frame.payload, case .byteBuffer(let slice) = content.data,
            slice.storageCapacity > 2 * slice.readableBytes
        {
            content.data = .byteBuffer(ByteBuffer(bytes: slice.readableBytesView))
            frame.payload = .data(content)
        }
        context.fireChannelRead(wrapInboundOut(frame))
    }
}

/// A handler that closes an HTTP/1.1 connection after the current event has been handled.
///
/// A server may respond and close the connection before it has received the whole request. AsyncHTTPClient then closes
/// the connection before it delivers the end of the response, which fails the unsent part of the request and with it
/// the response.
final class DeferredClose: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

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
