#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewContracts: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "contracts",
            abstract: "Add a library of contracts to a package, which several plugins can import.",
            discussion: """
                The library is called NAMEContracts and begins with one contract. `backplane new manager --contracts \
                NAME` adds a manager's contracts to it. Package.swift is not changed: the lines to paste are printed, \
                with the place where they belong.

                EXAMPLES
                  backplane new contracts Harbour
                  backplane new manager Desk --contracts Harbour --uses ClockManager
                """)

        @Argument(help: "The name, such as Harbour.") var name: String
        @Option(
            help: ArgumentHelp(
                "The package to add it to (default: the one that contains the current folder).", valueName: "folder"))
        var package: String?
        @Option(
            help: ArgumentHelp(
                "The Backplane package, for a package that does not depend on it yet (default: the one from which "
                    + "this command was built).",
                valueName: "location"))
        var backplane: String?
        @Flag(help: "Print the files and the next commands as JSON.") var json = false

        func run() throws {
            throw ExitCode(
                NewCommand(subject: .contracts(name: name, package: package, backplane: backplane), json: json).run())
        }
    }
}
#endif
