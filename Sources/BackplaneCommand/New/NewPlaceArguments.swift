#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
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

        var place: NewCommand.Place { NewCommand.Place(package: package, manifest: manifest) }
    }
}
#endif
