public import Backplane
public import BackplaneHost

/// Collects what the host and its components write to the log, of every level.
public final class TestLog: LogSink {
    private let written = Recording<LogRecord>()

    public init() {}

    public func isEnabled(_ level: Log.Level) -> Bool { true }
    public func write(_ record: LogRecord) { written.add(record) }

    /// Everything so far.
    public var records: [LogRecord] { written.all }

    /// What one component wrote, a manager by its name in the manifest, anything else by its class; `host`: the host itself.
    public func messages(from source: String) -> [String] {
        records.filter { $0.source == source }.map(\.message)
    }

    /// Waits until somebody has written a message, and gives the record.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    public func record(_ message: String) async throws -> LogRecord {
        try await written.first(where: { $0.message == message })
    }
}
