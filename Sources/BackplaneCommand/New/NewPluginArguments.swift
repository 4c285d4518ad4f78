#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewPlugin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plugin", abstract: "Adds a plugin to a package: contract, manager, library, tests and manifest entry.",
            discussion: """
                Lists of the Package.swift that are not written out in brackets are left alone: the lines to put in are printed then, and exit \
                code is 1.

                EXAMPLES
                  backplane new plugin Ferry
                  backplane new plugin Ferry --package ../harbour --manifest ../harbour/ferries.json
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @Option(help: ArgumentHelp("Backplane, for a package that does not depend on it yet (default: the one that this command was built from).", valueName: "place"))
        var backplane: String?

        func run() throws {
            throw ExitCode(NewCommand(subject: .plugin(name: arguments.name, arguments.place, backplane: backplane), json: arguments.json).run())
        }
    }
}
#endif
