#if Engines
import Backplane
public import BackplaneHost
public import ServiceLifecycle
import Synchronization

/// A plugin host as a service of swift-service-lifecycle.
///
/// ```swift
/// let plugins = PluginHostService(host)
/// let group = ServiceGroup(
///     services: [plugins, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A group shuts its services down in reverse order. If the host is first in the list, it is therefore stopped last,
/// when the services that call its managers have ended.
public final class PluginHostService: Service {
    /// The host that the service starts and stops.
    public let host: PluginHost
    private let keepsGoing: Bool
    private let start = Mutex(Start())

    private struct Start {
        var outcome: Result<Void, any Error>?
        var waiting: [CheckedContinuation<Void, any Error>] = []
    }

    /// Creates the service of a host, which it starts when the group runs it.
    ///
    /// - Parameter keepGoing: Whether to run even if some managers fail to start.
    public init(_ host: PluginHost, keepGoing: Bool = false) {
        (self.host, keepsGoing) = (host, keepGoing)
    }

    /// Starts the host, runs until the group shuts down or the task is cancelled, and stops the host.
    ///
    /// - Throws: The errors of `PluginHost.start`, after which the host is stopped.
    public func run() async throws {
        do {
            try await host.start(keepGoing: keepsGoing)
        } catch {
            settle(.failure(error))
            await host.stop()
            throw error
        }
        settle(.success(()))
        try? await gracefulShutdown()
        await host.stop()
    }

    /// Waits until the eager managers have started.
    ///
    /// Other services of the group call this first, because a group starts all of its services concurrently.
    ///
    /// - Throws: The error that prevented the host from starting.
    public func ready() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let outcome = start.withLock { start in
                if start.outcome == nil { start.waiting.append(continuation) }
                return start.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    private func settle(_ outcome: Result<Void, any Error>) {
        let waiting = start.withLock { start in
            start.outcome = outcome
            defer { start.waiting = [] }
            return start.waiting
        }
        for continuation in waiting { continuation.resume(with: outcome) }
    }
}
#endif
