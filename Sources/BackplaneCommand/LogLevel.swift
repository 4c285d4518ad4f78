import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct LogLevel: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level",
            abstract: "List or change the log levels of a running host.",
            discussion: """
                A level without a name applies to everything that does not have its own level. NAME=LEVEL applies to \
                one component, the components of one plugin (its id), or `host`; NAME= removes that level. The levels \
                apply until the host stops.

                EXAMPLES
                  backplane log-level
                  backplane log-level org.example.desk=debug
                  backplane log-level org.example.desk= warning
                  backplane log-level --reset
                """)

        @Argument(
            help: ArgumentHelp("Levels: \(LogLevelWord.all); or NAME=LEVEL, or NAME=.", valueName: "level"),
            completion: .list(LogLevelWord.levels), transform: LevelChange.init)
        var levels: [LevelChange] = []
        @Flag(help: "Restore the levels with which the host was started before setting the given ones.")
        var reset = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the levels as JSON.") var json = false

        /// A level to set for a name or for everything, or to remove from a name.
        enum LevelChange: Sendable, Hashable {
            case set(LogLevelWord)
            case remove(String)

            /// Parses a word such as `info`, `org.example.desk=debug`, or `org.example.desk=`.
            init(_ text: String) throws {
                self =
                    text.count > 1 && text.hasSuffix("=")
                    ? .remove(String(text.dropLast())) : .set(try LogLevelWord(text))
            }
        }

        private var request: LogLevelsRequest {
            var standard: Log.Level?, exceptions: [String: Log.Level?] = [:]
            for change in levels {
                switch change {
                case .remove(let name): exceptions[name] = .some(nil)
                case .set(let word):
                    if let name = word.name { exceptions[name] = word.level } else { standard = word.level }
                }
            }
            return LogLevelsRequest(standard: standard, exceptions: exceptions, reset: reset)
        }

        func run() throws {
            let code = try host.choice.ask(request) { answer, _ in
                let levels = answer.levels
                if json {
                    Output.json(answer)
                } else {
                    Output.table(
                        ["LOG OF", "LOWEST LEVEL"],
                        levels.exceptions.sorted { $0.key < $1.key }.map { [$0.key.printable, "\($0.value)"] }
                            + [["everything else", "\(levels.standard)"]])
                }
                for remark in answer.remarks { Output.remark("backplane: \(remark.printable)") }
                return 0
            }
            throw ExitCode(code)
        }
    }
}
