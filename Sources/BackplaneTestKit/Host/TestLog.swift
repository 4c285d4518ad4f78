public import Backplane
public import BackplaneHost

/// A log that collects the messages of the host and its components at every level.
public final class TestLog: LogSink {
    private let written = Recording<LogRecord>()
    private let watch: @Sendable (LogRecord) -> Void

    /// Creates an empty log.
    public convenience init() { self.init { _ in } }

    /// Creates an empty log that shows each message to `watch` once it is collected.
    package init(_ watch: @escaping @Sendable (LogRecord) -> Void) { self.watch = watch }

    /// Returns `true`: every level is collected.
    public func isEnabled(_ level: Log.Level) -> Bool { true }
    /// Collects a message.
    public func write(_ record: LogRecord) {
        written.add(record)
        watch(record)
    }

    /// All messages so far.
    public var records: [LogRecord] { written.all }

    /// Returns the messages of one component or of the host.
    ///
    /// - Parameter source: The name of a manager in the manifest, the class name of any other component, or `host`.
    public func messages(from source: String) -> [String] {
        records.filter { $0.source == source }.map(\.message)
    }

    /// Waits for a message with a text, and returns its record.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func record(_ message: String) async throws -> LogRecord {
        try await first { $0.message == message }
    }

    /// Waits for a message that meets a condition, and returns the first one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func first(where isWanted: @escaping @Sendable (LogRecord) -> Bool) async throws -> LogRecord {
        try await written.first(where: isWanted)
    }
}
