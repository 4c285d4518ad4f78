#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewManager: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "manager",
            abstract: "Add a manager and its collaborators to a plugin, with tests and a manifest entry.",
            discussion: """
                The package's own Swift files are not changed: the lines to paste into Package.swift and the plugin \
                are printed, with the places where they belong.

                EXAMPLES
                  backplane new manager Weather --dac --service
                  backplane new manager Crew --dac --plugin Ferry
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @Flag(help: "Add a data access controller, which stores records.") var dac = false
        @Flag(help: "Add a communication controller and a network service.") var service = false
        @Option(
            help: ArgumentHelp(
                "The library or target of the plugin to add it to (default: the only one).", valueName: "plugin"))
        var plugin: String?

        func run() throws {
            let subject = NewCommand.Subject.manager(
                name: arguments.name, arguments.place, hasStore: dac, hasService: service, plugin: plugin)
            throw ExitCode(NewCommand(subject: subject, json: arguments.json).run())
        }
    }
}
#endif
