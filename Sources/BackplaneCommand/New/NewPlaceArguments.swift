#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    /// The arguments of every subcommand that creates a folder.
    struct NewFolderArguments: ParsableArguments {
        @Argument(help: "Its name, such as TideTable; a path before it says where its folder is made.") var name: String
        @Option(
            help: ArgumentHelp(
                "The package Backplane: a checkout, or a URL (default: the one that this command was built from).",
                valueName: "place"))
        var backplane: String?
        @Flag(help: "Print the files and what to enter next as JSON.") var json = false
    }

    /// The arguments of every subcommand that adds to a package.
    struct NewPlaceArguments: ParsableArguments {
        @Argument(help: "Its name, such as TideTable.") var name: String
        @Option(
            help: ArgumentHelp(
                "The package to add it to (default: the one around the current folder).", valueName: "folder"))
        var package: String?
        @Option(
            help: ArgumentHelp(
                "The manifest to put it into (default: backplane.json at the top of the package, or one in its folder manifests).",
                valueName: "manifest"))
        var manifest: String?
        @Flag(help: "Print the files and what to enter next as JSON.") var json = false

        var place: NewCommand.Place { NewCommand.Place(package: package, manifest: manifest) }
    }
}
#endif
