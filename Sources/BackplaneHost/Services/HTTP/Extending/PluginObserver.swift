import Backplane
import BackplaneExchange
import BackplaneNetwork

extension ExchangeObserver {
    /// The time limit for a manager to handle the collected events, before it receives the next ones.
    private static let limit = Duration.seconds(10)

    /// Creates an observer from a manager of a plugin.
    ///
    /// - Parameter log: The log to which its errors are written.
    convenience init(_ manager: String, _ managers: NetworkManagers, _ log: any LogSink) {
        self.init { batch in
            let remote = try await managers.find(manager, as: ExchangeObserving.self)
            _ = try await remote.observe(batch, Call(within: Self.limit))
        } failed: { error in
            let error = BackplaneError(thrown: error)
            // A host that stops has exchanges until its last component is gone.
            guard error.code != .hostStopped else { return }
            log.write(
                LogRecord(
                    level: .warning, source: "host", message: "an observer of exchanges failed",
                    metadata: ["observer": manager, "error": error.description]))
        }
    }
}
