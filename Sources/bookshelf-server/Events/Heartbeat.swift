#if Engines
import ServiceLifecycle

/// Beats on every event stream, which also finds out who hung up.
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
