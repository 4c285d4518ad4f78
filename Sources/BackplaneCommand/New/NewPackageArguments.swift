#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewPackage: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "package",
            abstract: "Create a package with a plugin: contract, manager, library, tests and manifest.",
            discussion: """
                The folder is named after the package. The package depends on Backplane without traits, so that no \
                other package is fetched.

                EXAMPLES
                  backplane new package Tides
                  backplane new package plugins/Tides --backplane ../backplane
                """)

        @OptionGroup var arguments: NewFolderArguments

        func run() throws {
            throw ExitCode(
                NewCommand(
                    subject: .package(name: arguments.name, backplane: arguments.backplane), json: arguments.json
                ).run())
        }
    }
}
#endif
