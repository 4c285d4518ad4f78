#if Engines
import NIOCore
import NIOHTTP2

/// A handler that copies the content of each HTTP/2 frame to a separate buffer.
///
/// The decoder passes on slices of the received buffers, and a slice retains its whole buffer. Frames that wait for a
/// slow reader, up to the window of 8 MB, would retain many times that size.
final class CompactFrames: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// Adds the handler to a connection behind the decoder.
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
#endif
