#if Engines
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// The route `/v2/events`, a stream of server-sent events.
///
/// A client that reconnects specifies its last event in `Last-Event-ID`, and receives the later ones.
struct EventRoutes: Sendable {
    let events: EventFeed

    func add(to router: BookshelfRouter) {
        router.route(
            "/v2/events",
            [
                .get: { request, _ in
                    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
                    // An open stream would otherwise delay the shutdown.
                    let stream = events.subscribe(after: request.headers[.lastEventID]).map {
                        ByteBuffer(string: $0.text)
                    }.cancelOnGracefulShutdown()
                    return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: stream))
                }
            ])
    }
}

extension HTTPField.Name {
    /// The id of the last event that a client has (WHATWG HTML, section 9.2.4).
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}
#endif
