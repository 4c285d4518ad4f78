#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewPackage: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "package",
            abstract: "Makes a package of a plugin: contract, manager, library, tests and manifest.",
            discussion: """
                Its folder is called as it is. It depends on Backplane without traits, so that no other package is fetched.

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
