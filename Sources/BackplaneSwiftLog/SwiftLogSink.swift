#if Engines
public import Backplane
public import BackplaneHost
public import Logging

/// A log sink that sends the log of a host and its components to swift-log.
///
/// ```swift
/// LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .backplane)
/// let options = HostOptions(log: SwiftLogSink(Logger(label: "plugins")))
/// ```
///
/// A record's component is the source of the message, and a call's trace is in its metadata as `trace`.
public struct SwiftLogSink: LogSink {
    /// The logger to which records are sent, whose level determines which records are logged.
    public let logger: Logger

    /// Creates a sink for a logger.
    public init(_ logger: Logger) {
        self.logger = logger
    }

    /// Returns whether the logger logs messages of a level.
    public func isEnabled(_ level: Log.Level) -> Bool { Logger.Level(level) >= logger.logLevel }

    /// Sends a record to the logger.
    public func write(_ record: LogRecord) {
        logger.log(
            level: Logger.Level(record.level), Logger.Message(stringLiteral: record.message),
            metadata: record.metadata.mapValues { .string($0) }, source: record.source)
    }
}

extension Logger.Level {
    /// Creates the level of the same name.
    public init(_ level: Log.Level) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}
#endif
