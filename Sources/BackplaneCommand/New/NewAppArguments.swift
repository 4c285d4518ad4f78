#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewApp: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "app",
            abstract: "Create a program that hosts plugins, with its first plugin, tests and manifest.",
            discussion: """
                The contracts between the program and its plugins are in a separate library, which further plugins can \
                import. The program runs until SIGINT or SIGTERM, and `backplane swap` and similar commands can \
                control it.

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
