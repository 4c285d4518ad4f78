#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewPlugin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plugin",
            abstract: "Add a plugin to a package: contract, manager, library, tests and manifest entry.",
            discussion: """
                The package's own Swift files are not changed: the lines to paste into Package.swift are printed, with \
                the place where they belong.

                EXAMPLES
                  backplane new plugin Ferry
                  backplane new plugin Ferry --package ../harbour --manifest ../harbour/ferries.json
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @Option(
            help: ArgumentHelp(
                "The Backplane package, for a package that does not depend on it yet (default: the one from which "
                    + "this command was built).",
                valueName: "location"))
        var backplane: String?

        func run() throws {
            throw ExitCode(
                NewCommand(
                    subject: .plugin(name: arguments.name, arguments.place, backplane: backplane), json: arguments.json
                ).run())
        }
    }
}
#endif
