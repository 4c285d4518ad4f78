#if Engines
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// `/v2/events`: what happens, as server-sent events.
struct EventRoutes: Sendable {
    let events: EventFeed

    func add(to router: BookshelfRouter) {
        router.route("/v2/events", [.get: { _, _ in
            let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
            // Without the end at shutdown an open stream would hold the server up.
            let stream = events.subscribe().map { ByteBuffer(string: $0.text) }.cancelOnGracefulShutdown()
            return Response(status: .ok, headers: headers, body: ResponseBody(asyncSequence: stream))
        }])
    }
}
#endif
