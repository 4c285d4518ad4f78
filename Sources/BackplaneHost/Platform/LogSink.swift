public import Backplane

/// A destination for the log of the host and its components, such as swift-log or a test's array.
public protocol LogSink: Sendable {
    /// Returns whether records of a level are written.
    func isEnabled(_ level: Log.Level) -> Bool
    /// Returns whether records of a level by one source are written; by default, whether those of any source are.
    ///
    /// - Parameters:
    ///   - level: The level of the record.
    ///   - source: The name of a component, or `host`.
    ///   - plugin: The id of the component's plugin; `nil` for the host.
    func isEnabled(_ level: Log.Level, for source: String, of plugin: String?) -> Bool
    /// Writes one record.
    ///
    /// The host does not call ``isEnabled(_:)`` before every record, so a sink with levels of its own must also check
    /// them here.
    func write(_ record: LogRecord)
}

extension LogSink {
    /// Returns whether records of a level are written, regardless of their source.
    public func isEnabled(_ level: Log.Level, for source: String, of plugin: String?) -> Bool { isEnabled(level) }
}

/// One entry of the log.
public struct LogRecord: Sendable, Hashable {
    /// The severity, by which a sink selects the records to write.
    public var level: Log.Level
    /// The name of the component that wrote the record, or `host`.
    public var source: String
    /// The id of the component's plugin; `nil` for records of the host.
    public var plugin: String?
    /// The text of the record.
    public var message: String
    /// Additional values that belong to the record, keyed by name.
    public var metadata: [String: String]

    /// Creates an entry, as the host does for its own messages and those of components.
    public init(
        level: Log.Level, source: String, plugin: String? = nil, message: String, metadata: [String: String] = [:]
    ) {
        (self.level, self.source, self.plugin) = (level, source, plugin)
        (self.message, self.metadata) = (message, metadata)
    }

    /// The id of the trace of the call that the record is about; `nil` if the component named no call.
    public var trace: String? { metadata["trace"] }
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
