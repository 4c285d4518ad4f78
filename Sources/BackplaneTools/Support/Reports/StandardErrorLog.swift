package import Backplane
package import BackplaneHost
import FoundationEssentials

/// A log sink without dependencies that writes one line for each record to standard error.
package struct StandardErrorLog: LogSink {
    package var level: Log.Level
    package var format: LogFormat

    /// Creates the sink; the host applies the levels of individual components.
    package init(level: Log.Level = .trace, format: LogFormat = .text) { (self.level, self.format) = (level, format) }

    package func isEnabled(_ level: Log.Level) -> Bool { level >= self.level }

    package func write(_ record: LogRecord) {
        if isEnabled(record.level) { Output.remark(format.line(record, at: Date().timeIntervalSince1970)) }
    }
}
