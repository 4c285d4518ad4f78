import Backplane
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// The log settings of a host that a command creates: the levels on standard error, and the format.
struct LogSettings: Sendable {
    var levels = LogLevels(.notice)
    var format = LogFormat.text

    /// Returns the settings with the level of an argument.
    func taking(_ word: LogLevelWord) -> LogSettings {
        LogSettings(levels: levels.taking([word]), format: format)
    }

    var sink: any LogSink { StandardErrorLog(format: format) }

    /// The options of a command that creates a host with the same log.
    var options: [ShellCommand.Option] {
        ([LogLevelWord(level: levels.standard)]
            + levels.exceptions.sorted { $0.key < $1.key }.map { LogLevelWord(name: $0.key, level: $0.value) })
            .map { ShellCommand.Option(name: "--log-level", value: "\($0)") }
            + [ShellCommand.Option(name: "--log-format", value: format.rawValue)]
    }
}
