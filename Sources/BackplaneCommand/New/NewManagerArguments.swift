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
                  backplane new manager Notices --stream
                  backplane new manager Desk --contracts Harbour --uses ClockManager
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @Flag(help: "Add a data access controller, which stores records.") var dac = false
        @Flag(help: "Add a communication controller and a network service.") var service = false
        @Flag(help: "Add a stream that consumers follow across swaps.") var stream = false
        @Option(
            help: ArgumentHelp(
                "The library or target of the plugin to add it to (default: the only one).", valueName: "plugin"))
        var plugin: String?

        @Option(
            help: ArgumentHelp(
                "The library of the package to add its contracts to, such as Harbour for HarbourContracts (default: the plugin's module).",
                valueName: "library"))
        var contracts: String?
        @Option(
            name: .customLong("uses"), parsing: .singleValue,
            help: ArgumentHelp(
                "The name in the manifest of a manager that it uses; can be repeated.", valueName: "manager"))
        var uses: [String] = []

        func validate() throws {
            if stream, dac || service {
                throw ValidationError("--stream creates a manager without collaborators; leave out --dac and --service")
            }
        }

        func run() throws {
            let subject = NewCommand.Subject.manager(
                name: arguments.name, arguments.place,
                .init(
                    hasStore: dac, hasService: service, hasStream: stream, plugin: plugin, contracts: contracts,
                    uses: uses))
            throw ExitCode(NewCommand(subject: subject, json: arguments.json).run())
        }
    }
}
#endif
