#if Engines
import Backplane
import BackplaneHost
import BackplaneTerminal
import Logging

/// A log sink that writes to standard error through swift-log.
struct SwiftLog: LogSink {
    private let logger: Logger

    init(level: Log.Level) {
        var logger = Logger(label: "backplane") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = Logger.Level(level)
        self.logger = logger
    }

    func isEnabled(_ level: Log.Level) -> Bool { Logger.Level(level) >= logger.logLevel }

    func write(_ record: LogRecord) {
        logger.log(
            level: Logger.Level(record.level), Logger.Message(stringLiteral: record.message.printable),
            metadata: record.metadata.mapValues { .string($0.printable) }, source: record.source)
    }
}

extension Logger.Level {
    fileprivate init(_ level: Log.Level) {
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
