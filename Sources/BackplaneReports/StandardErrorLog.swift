import Backplane
import BackplaneHost

/// The log of a build without engines: a line each on standard error.
struct StandardErrorLog: LogSink {
    var level: Log.Level

    func isEnabled(_ level: Log.Level) -> Bool { level >= self.level }

    func write(_ record: LogRecord) {
        let metadata = record.metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)".printable }.joined()
        Output.remark("\(record.level) \(record.source): \(record.message.printable)\(metadata)")
    }
}
