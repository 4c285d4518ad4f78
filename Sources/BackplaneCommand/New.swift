import ArgumentParser
import BackplaneTools

extension BackplaneTool {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract:
                "Create a package, a plugin, contracts, a manager or a program that builds and passes its tests, or a definition.",
            discussion: """
                Prints the files that were written and the commands to enter next. Existing files are never \
                overwritten. If anything fails, nothing is left behind and the exit code is 1. In an existing package, \
                `plugin`, `contracts` and `manager` add to Package.swift, to the plugin's `register(in:)` and to the \
                manifest, and show the difference.

                EXAMPLES
                  backplane new package Tides
                  backplane new manager Weather --dac --service
                  backplane new plugin Ferry --manifest backplane.json
                  backplane new contracts Harbour
                  backplane new app Harbour --routes
                  backplane new definition Pharmacies
                """,
            subcommands: [
                NewPackage.self, NewApp.self, NewPlugin.self, NewContracts.self, NewManager.self, NewDefinition.self,
            ])
    }

    /// The arguments of every subcommand that creates a folder.
    struct NewFolderArguments: ParsableArguments {
        @Argument(help: "The name, such as TideTable, or a path that ends in it: the folder to create.") var name:
            String
        @Option(
            help: ArgumentHelp(
                "The Backplane package: a checkout or a URL (default: the one from which this command was built).",
                valueName: "location"))
        var backplane: String?
        @Flag(help: "Print the files and the next commands as JSON.") var json = false
    }

    /// The arguments of every subcommand that adds to a package.
    struct NewPlaceArguments: ParsableArguments {
        @Argument(help: "The name, such as TideTable.") var name: String
        @Option(
            help: ArgumentHelp(
                "The package to add it to (default: the one that contains the current folder).", valueName: "folder"))
        var package: String?
        @Option(
            help: ArgumentHelp(
                "The manifest to add it to (default: backplane.json in the package's folder, or the one in its `manifests` folder).",
                valueName: "manifest"))
        var manifest: String?
        @Flag(help: "Print the files and the next commands as JSON.") var json = false
        @Flag(name: .customLong("print"), help: "Print what would be written and changed, and write nothing.")
        var printsOnly = false

        var place: NewCommand.Place { NewCommand.Place(package: package, manifest: manifest) }
    }

    /// The option of every subcommand that adds a manager.
    struct NewContractsArguments: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The library of the package to add its contracts to, such as Harbour for HarbourContracts "
                    + "(default: the plugin's module).",
                valueName: "library"))
        var contracts: String?
    }

    struct NewPackage: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "package",
            abstract: "Create a package with a plugin: contract, manager, library, tests and manifest.",
            discussion: """
                The folder is named after the package. The package depends on Backplane without traits, so that \
                besides it only swift-argument-parser is fetched.

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

    struct NewApp: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "app",
            abstract: "Create a program that hosts plugins, with its first plugin, tests and manifest.",
            discussion: """
                The contracts between the program and its plugins are in a separate library, which further plugins can \
                import. The program runs until SIGINT or SIGTERM, and `backplane swap` and similar commands can \
                control it. With --routes, the application is a plugin that serves HTTP, and `backplane dev` and \
                `backplane run` are its program.

                EXAMPLES
                  backplane new app Harbour
                  backplane new app Harbour --routes
                """)

        @OptionGroup var arguments: NewFolderArguments
        @Flag(help: "Create a plugin that serves HTTP, without a program of its own.") var routes = false

        func run() throws {
            throw ExitCode(
                NewCommand(
                    subject: .app(name: arguments.name, backplane: arguments.backplane, hasRoutes: routes),
                    json: arguments.json
                ).run())
        }
    }

    struct NewPlugin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "plugin",
            abstract: "Add a plugin to a package: contract, manager, library, tests and manifest entry.",
            discussion: """
                Its product and targets are added to Package.swift, and the difference is shown. If a list in \
                Package.swift is computed, the lines for it are printed for you to paste.

                EXAMPLES
                  backplane new plugin Ferry
                  backplane new plugin Ferry --package ../harbour --manifest ../harbour/ferries.json
                  backplane new plugin Ferry --contracts Harbour
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @OptionGroup var contracts: NewContractsArguments
        @Option(
            help: ArgumentHelp(
                "The Backplane package, for a package that does not depend on it yet (default: the one from which "
                    + "this command was built).",
                valueName: "location"))
        var backplane: String?

        func run() throws {
            throw ExitCode(
                NewCommand(
                    subject: .plugin(
                        name: arguments.name, arguments.place, contracts: contracts.contracts, backplane: backplane),
                    json: arguments.json, printsOnly: arguments.printsOnly
                ).run())
        }
    }

    struct NewContracts: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "contracts",
            abstract: "Add a library of contracts to a package, which several plugins can import.",
            discussion: """
                The library is called NAMEContracts and begins empty. `backplane new plugin` and `new manager` add \
                contracts to it with --contracts NAME. Its product and target are added to Package.swift, and the \
                difference is shown.

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
        @Flag(name: .customLong("print"), help: "Print what would be written and changed, and write nothing.")
        var printsOnly = false

        func run() throws {
            throw ExitCode(
                NewCommand(
                    subject: .contracts(name: name, package: package, backplane: backplane), json: json,
                    printsOnly: printsOnly
                ).run())
        }
    }

    struct NewManager: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "manager",
            abstract: "Add a manager and its collaborators to a plugin, with tests and a manifest entry.",
            discussion: """
                Its dependencies are added to Package.swift and its classes to the plugin's `register(in:)`, and the \
                differences are shown. If a list is computed, the lines for it are printed for you to paste.

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

        @OptionGroup var contracts: NewContractsArguments
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
                    hasStore: dac, hasService: service, hasStream: stream, plugin: plugin,
                    contracts: contracts.contracts, uses: uses))
            throw ExitCode(
                NewCommand(subject: subject, json: arguments.json, printsOnly: arguments.printsOnly).run())
        }
    }

    struct NewDefinition: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "definition",
            abstract: "Create the definition of a web service, whose methods are called without code.",
            discussion: """
                The file NAME.json contains example methods to edit; `backplane check` lists its problems.

                EXAMPLES
                  backplane new definition Pharmacies
                  backplane new definition definitions/Pharmacies
                """)

        @Argument(help: "The name, such as Pharmacies, or a path that ends in it.") var name: String
        @Flag(help: "Print the files and the next commands as JSON.") var json = false

        func run() throws { throw ExitCode(NewCommand(subject: .definition(name: name), json: json).run()) }
    }
}
