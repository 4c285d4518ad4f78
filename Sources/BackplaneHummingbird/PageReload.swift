#if Engines
import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import Hummingbird
import HTTPTypes
import NIOCore
import Synchronization

/// The reloading of pages in browsers after each change of a host, for its development.
///
/// A page that contains `<script src="/backplane/reload.js"></script>` listens to an event stream. The page is reloaded
/// after an event, and after the stream was interrupted, because the host may have been restarted.
final class PageReload: Sendable {
    static let scriptPath = "/backplane/reload.js", eventsPath = "/backplane/reload"
    private struct Pages {
        var open: [UInt64: AsyncStream<ServerEvent>.Continuation] = [:]
        var last: UInt64 = 0
        var hasEnded = false
    }
    private let pages = Mutex(Pages())

    /// Reloads all pages if the event is a completed change.
    func note(_ event: HostEvent) {
        let name: String? =
            switch event.kind {
            case .swapped: "swapped"
            case .applied: "applied"
            case .reset: "reset"
            case .started, .failed, .laneChanged, .missed: nil
            }
        guard let name else { return }
        let pages = pages.withLock { Array($0.open.values) }
        // An event without data would be dropped.
        for page in pages { page.yield(ServerEvent(name: "reload", data: name)) }
    }

    /// Ends all event streams, because the server stops.
    func end() {
        let pages = pages.withLock { pages in
            pages.hasEnded = true
            return Array(pages.open.values)
        }
        for page in pages { page.finish() }
    }

    private func events() -> AsyncStream<ServerEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { page in
            let number = pages.withLock { pages -> UInt64? in
                guard !pages.hasEnded else { return nil }
                pages.last += 1
                pages.open[pages.last] = page
                return pages.last
            }
            guard let number else { return page.finish() }
            page.onTermination = { [weak self] _ in
                _ = self?.pages.withLock { $0.open.removeValue(forKey: number) }
            }
        }
    }

    /// Returns the event stream, which ends with the connection.
    func stream(to request: Request) -> Response {
        let events = events()
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                // Browsers connect again after this time; without it, they wait for seconds.
                try await writer.write(ByteBuffer(string: "retry: 500\n\n"))
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for await event in events { try await writer.write(ByteBuffer(string: event.text)) }
                }
                try await writer.finish(nil)
            })
    }

    static let script = """
        // Loads this page again after every change of the application, and after a restart.
        (() => {
            let wasOpen = false;
            const connect = () => {
                const events = new EventSource("\(eventsPath)");
                events.addEventListener("open", () => {
                    if (wasOpen) location.reload();
                    wasOpen = true;
                });
                events.addEventListener("reload", () => location.reload());
                events.addEventListener("error", () => {
                    // Some browsers give up if nobody listens.
                    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 500);
                });
            };
            connect();
        })();

        """
}
#endif
