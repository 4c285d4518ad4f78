#if Engines
import Backplane
import BackplaneHost
import Logging

/// A log handler that writes to the log of a host, under the name of the manager that a message concerns.
struct HostLogHandler: LogHandler {
    let log: any LogSink
    var metadata: Logger.Metadata = [:]
    // The host's own levels change while it runs.
    var logLevel = Logger.Level.debug

    init(_ log: any LogSink) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let level = Log.Level(event.level)
        guard log.isEnabled(level) else { return }
        var values = metadata.merging(event.metadata ?? [:]) { _, own in own }.mapValues(\.description)
        let source = values.removeValue(forKey: "manager") ?? "host"
        log.write(LogRecord(level: level, source: source, message: event.message.description, metadata: values))
    }
}

extension Log.Level {
    fileprivate init(_ level: Logger.Level) {
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
