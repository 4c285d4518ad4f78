#if Engines
import NIOCore

/// The limits for a client that reads its answer slowly or not at all.
///
/// This is the first handler of a connection, so that all data that it delays or drops is already encrypted.
final class UnreadAnswer: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The time without a read by the client after which the connection ends.
    private static let patience = TimeAmount.seconds(60)
    /// The time to read the rest of the last answer before the connection is closed.
    private static let patienceAtEnd = TimeAmount.seconds(5)
    private var end: Scheduled<Void>?
    private var isClosing = false

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !isClosing { closes(context, after: context.channel.isWritable ? nil : Self.patience) }
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, !isClosing else { return context.close(mode: mode, promise: promise) }
        isClosing = true
        closes(context, after: Self.patienceAtEnd)
        // Closing a channel drops unsent data. Writes end in order, so that this one ends after all earlier data was
        // sent.
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in context.close(mode: .all, promise: promise) }
        context.writeAndFlush(Self.wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: sent)
    }

    func handlerRemoved(context: ChannelHandlerContext) { closes(context, after: nil) }

    private func closes(_ context: ChannelHandlerContext, after limit: TimeAmount?) {
        end?.cancel()
        end = limit.map { limit in
            context.eventLoop.assumeIsolated().scheduleTask(in: limit) { context.close(mode: .all, promise: nil) }
        }
    }

    /// A handler that a server adds among others, and that puts an ``UnreadAnswer`` first.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        func handlerAdded(context: ChannelHandlerContext) {
            // It fails only if the channel is closed.
            try? context.pipeline.syncOperations.addHandler(UnreadAnswer(), position: .first)
        }
    }
}
#endif
