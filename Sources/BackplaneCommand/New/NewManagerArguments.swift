#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewManager: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "manager",
            abstract: "Adds a manager, and its layers, to a plugin of a package, with tests and manifest entry.",
            discussion: """
                The package's own Swift stays as it is: the lines to paste into its Package.swift and the plugin are printed, with where they belong.

                EXAMPLES
                  backplane new manager Weather --dac --service
                  backplane new manager Crew --dac --plugin Ferry
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @Flag(help: "With a data access controller, which keeps records.") var dac = false
        @Flag(help: "With a communication controller and a network service.") var service = false
        @Option(
            help: ArgumentHelp(
                "The plugin to add it to, by its library or its target (default: the only one).", valueName: "plugin"))
        var plugin: String?

        func run() throws {
            let subject = NewCommand.Subject.manager(
                name: arguments.name, arguments.place, hasStore: dac, hasService: service, plugin: plugin)
            throw ExitCode(NewCommand(subject: subject, json: arguments.json).run())
        }
    }
}
#endif
