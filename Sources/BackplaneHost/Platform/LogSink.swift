public import Backplane

/// Where the host and its components write their log: the command line's swift-log, a test's array.
public protocol LogSink: Sendable {
    func isEnabled(_ level: Log.Level) -> Bool
    func write(_ record: LogRecord)
}

/// One line of the log.
public struct LogRecord: Sendable, Hashable {
    public var level: Log.Level
    /// Who wrote it: a component's name, or `host`.
    public var source: String
    public var message: String
    public var metadata: [String: String]

    public init(level: Log.Level, source: String, message: String, metadata: [String: String] = [:]) {
        (self.level, self.source, self.message, self.metadata) = (level, source, message, metadata)
    }
}

/// Writes nothing.
public struct SilentLog: LogSink {
    public init() {}
    public func isEnabled(_ level: Log.Level) -> Bool { false }
    public func write(_ record: LogRecord) {}
}
