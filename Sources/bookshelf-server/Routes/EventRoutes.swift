#if Engines
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// The route `/v2/events`, a stream of server-sent events.
struct EventRoutes: Sendable {
    let events: EventFeed

    func add(to router: BookshelfRouter) {
        router.route(
            "/v2/events",
            [
                .get: { _, _ in
                    let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
                    // An open stream would otherwise delay the shutdown.
                    let stream = events.subscribe().map { ByteBuffer(string: $0.text) }.cancelOnGracefulShutdown()
                    return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: stream))
                }
            ])
    }
}
#endif
