import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// The command `backplane log-level`, which changes and lists the log levels of a running host.
struct LogLevelCommand: Sendable {
    /// The levels to change; names without a level are removed.
    var changes: [LevelChange] = []
    /// A Boolean value that indicates whether to restore the levels with which the host was started.
    var resets = false
    var host: HostChoice
    var json = false

    /// A level to set for a name or for everything, or to remove from a name.
    enum LevelChange: Sendable, Hashable {
        case set(LogLevelWord)
        case remove(String)

        /// Parses a word such as `info`, `org.example.desk=debug`, or `org.example.desk=`.
        init(_ text: String) throws(LogLevelWord.Unknown) {
            self =
                text.count > 1 && text.hasSuffix("=")
                ? .remove(String(text.dropLast())) : .set(try LogLevelWord(text))
        }
    }

    private var request: LogLevelsRequest {
        var standard: String?, exceptions: [String: String] = [:]
        for change in changes {
            switch change {
            case .remove(let name): exceptions[name] = ""
            case .set(let word):
                if let name = word.name { exceptions[name] = "\(word.level)" } else { standard = "\(word.level)" }
            }
        }
        return LogLevelsRequest(standard: standard, exceptions: exceptions, reset: resets)
    }

    func run() -> Int32 {
        host.ask(request) { levels, _ in
            if json {
                Output.json(levels)
            } else {
                Output.table(
                    ["LOG OF", "LOWEST LEVEL"],
                    levels.exceptions.sorted { $0.key < $1.key }.map { [$0.key.printable, $0.value.printable] }
                        + [["everything else", levels.standard.printable]])
            }
            for remark in levels.remarks { Output.remark("backplane: \(remark.printable)") }
            return 0
        }
    }
}
