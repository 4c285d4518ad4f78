#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewApp: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "app", abstract: "Makes a program with a host in it, its first plugin, tests and manifest.",
            discussion: """
                What program and plugins ask of each other stands in a library of contracts, for one more plugin to import. The program \
                stays until SIGINT or SIGTERM; `backplane swap` and its like reach it.

                EXAMPLES
                  backplane new app Harbour
                """)

        @OptionGroup var arguments: NewFolderArguments

        func run() throws {
            throw ExitCode(
                NewCommand(subject: .app(name: arguments.name, backplane: arguments.backplane), json: arguments.json)
                    .run())
        }
    }
}
#endif
