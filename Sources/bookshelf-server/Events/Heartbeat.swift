#if Engines
import ServiceLifecycle

/// A service that publishes heartbeats on all event streams, which also detects clients that have disconnected.
struct Heartbeat: Service {
    var events: EventFeed
    var interval = Duration.seconds(15)

    func run() async throws {
        let (events, interval) = (events, interval)
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: interval)
                events.publish(.heartbeat)
            }
        }
    }
}
#endif
