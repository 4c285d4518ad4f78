#if Engines
import ArgumentParser

extension BackplaneTool {
    struct LogLevel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level",
            abstract: "List or change the log levels of a running host.",
            discussion: """
                A level without a name applies to everything that has no level of its own. NAME=LEVEL applies to one \
                component, the components of one plugin (its id), or `host`; NAME= removes that level. The levels \
                apply until the host stops.

                EXAMPLES
                  backplane log-level
                  backplane log-level org.example.desk=debug
                  backplane log-level org.example.desk= warning
                  backplane log-level --reset
                """)

        @Argument(
            help: ArgumentHelp("Levels: \(LogLevelWord.all); or NAME=LEVEL, or NAME=.", valueName: "level"),
            completion: .list(LogLevelWord.levels), transform: LogLevelCommand.LevelChange.init)
        var levels: [LogLevelCommand.LevelChange] = []
        @Flag(help: "Restore the levels with which the host was started before setting the given ones.")
        var reset = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the levels as JSON.") var json = false

        func run() async throws {
            throw ExitCode(
                LogLevelCommand(changes: levels, resets: reset, host: try host.choice, json: json).run())
        }
    }
}
#endif
