public import Backplane

/// A destination for the log of the host and its components, such as swift-log or a test's array.
public protocol LogSink: Sendable {
    /// Returns whether records of a level are written.
    func isEnabled(_ level: Log.Level) -> Bool
    /// Writes one record.
    func write(_ record: LogRecord)
}

/// One entry of the log.
public struct LogRecord: Sendable, Hashable {
    /// The severity, by which a sink chooses what it writes.
    public var level: Log.Level
    /// The name of the component that wrote the record, or `host`.
    public var source: String
    /// The text of the record.
    public var message: String
    /// Further values that belong to the record, keyed by name.
    public var metadata: [String: String]

    /// Creates an entry, as the host does for its own messages and those of components.
    public init(level: Log.Level, source: String, message: String, metadata: [String: String] = [:]) {
        (self.level, self.source, self.message, self.metadata) = (level, source, message, metadata)
    }
}

/// A log sink that discards all records.
public struct SilentLog: LogSink {
    /// Creates the sink.
    public init() {}
    /// Returns `false` for all levels.
    public func isEnabled(_ level: Log.Level) -> Bool { false }
    /// Discards the record.
    public func write(_ record: LogRecord) {}
}
