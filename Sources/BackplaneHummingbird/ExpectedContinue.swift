#if Engines
import NIOCore
import NIOHTTPTypes
import Hummingbird

/// The permission to send a body, for clients that wait for it (RFC 9110, section 10.1.1), such as curl.
///
/// A body that is too long is refused at once, or dropped.
final class ExpectedContinue: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = Self.unwrapInboundIn(data), head.headerFields[.expect]?.lowercased() == "100-continue"
        {
            context.writeAndFlush(Self.wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }
}
#endif
