#if Engines
import ArgumentParser

extension BackplaneTool {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a package, a plugin, a manager or a program, which build and pass their tests at once.",
            discussion: """
                Says what was written and what to enter next. Nothing that is there is overwritten, and where something fails nothing is left \
                behind; exit code is 1 then.

                EXAMPLES
                  backplane new package Tides
                  backplane new manager Weather --dac --service
                  backplane new plugin Ferry --manifest backplane.json
                  backplane new app Harbour
                """,
            subcommands: [NewPackage.self, NewApp.self, NewPlugin.self, NewManager.self])
    }

    /// What everything that is made in a folder of its own takes.
    struct NewFolderArguments: ParsableArguments {
        @Argument(help: "Its name, such as TideTable; a path before it says where its folder is made.") var name: String
        @Option(help: ArgumentHelp("The package Backplane: a checkout, or a URL (default: the one that this command was built from).", valueName: "place"))
        var backplane: String?
        @Flag(help: "Print the files and what to enter next as JSON.") var json = false
    }

    /// What everything that is added to a package takes.
    struct NewPlaceArguments: ParsableArguments {
        @Argument(help: "Its name, such as TideTable.") var name: String
        @Option(help: ArgumentHelp("The package to add it to (default: the one around the current folder).", valueName: "folder")) var package: String?
        @Option(help: ArgumentHelp("The manifest to put it into (default: backplane.json at the top of the package, or one in its folder manifests).", valueName: "manifest"))
        var manifest: String?
        @Flag(help: "Print the files and what to enter next as JSON.") var json = false

        var place: NewCommand.Place { NewCommand.Place(package: package, manifest: manifest) }
    }

    struct NewPackage: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "package", abstract: "Makes a package of a plugin: contract, manager, library, tests and manifest.",
            discussion: """
                Its folder is called as it is. It depends on Backplane without traits, so that no other package is fetched.

                EXAMPLES
                  backplane new package Tides
                  backplane new package plugins/Tides --backplane ../backplane
                """)

        @OptionGroup var arguments: NewFolderArguments

        func run() throws {
            throw ExitCode(NewCommand(subject: .package(name: arguments.name, backplane: arguments.backplane), json: arguments.json).run())
        }
    }

    struct NewApp: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "app", abstract: "Makes a program with a host in it, its first plugin, tests and manifest.",
            discussion: """
                What program and plugins ask of each other stands in a library of contracts, for one more plugin to import. The program \
                stays until SIGINT or SIGTERM; `backplane swap` and its like reach it.

                EXAMPLES
                  backplane new app Harbour
                """)

        @OptionGroup var arguments: NewFolderArguments

        func run() throws {
            throw ExitCode(NewCommand(subject: .app(name: arguments.name, backplane: arguments.backplane), json: arguments.json).run())
        }
    }

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

    struct NewManager: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "manager", abstract: "Adds a manager, and its layers, to a plugin of a package, with tests and manifest entry.",
            discussion: """
                EXAMPLES
                  backplane new manager Weather --dac --service
                  backplane new manager Crew --dac --plugin Ferry
                """)

        @OptionGroup var arguments: NewPlaceArguments
        @Flag(help: "With a data access controller, which keeps records.") var dac = false
        @Flag(help: "With a communication controller and a network service.") var service = false
        @Option(help: ArgumentHelp("The plugin to add it to, by its library or its target (default: the only one).", valueName: "plugin")) var plugin: String?

        func run() throws {
            let subject = NewCommand.Subject.manager(name: arguments.name, arguments.place, hasStore: dac, hasService: service, plugin: plugin)
            throw ExitCode(NewCommand(subject: subject, json: arguments.json).run())
        }
    }
}
#endif
