package import Backplane
package import BackplaneHost
import BackplaneTerminal

/// A log sink without dependencies that writes one line for each record to standard error.
package struct StandardErrorLog: LogSink {
    package var level: Log.Level

    package init(level: Log.Level) { self.level = level }

    package func isEnabled(_ level: Log.Level) -> Bool { level >= self.level }

    package func write(_ record: LogRecord) {
        let metadata = record.metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)".printable }.joined()
        Output.remark("\(record.level) \(record.source): \(record.message.printable)\(metadata)")
    }
}
