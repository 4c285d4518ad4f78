#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Store: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List, read, save, restore and check the records of a host's store.",
            discussion: """
                Works on a manifest's store: directly on the file in its data folder or, if a running host has the \
                file open, through that host. A file that another process has open is never written to.

                EXAMPLES
                  backplane store list
                  backplane store get BookStore loans 7
                  backplane store dump > books.jsonl
                  backplane store restore books.jsonl --manifest manifests/bookshelf.json
                  backplane store check --json
                  backplane store migrate --dry-run
                """,
            subcommands: [List.self, Get.self, Dump.self, Restore.self, Check.self, Migrate.self])
    }
}

/// The options that choose a store.
struct StoreChoiceArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The manifest whose store to use (default: \(ManifestChoice.text)).", valueName: "manifest"))
    var manifest: String?

    @Option(
        help: ArgumentHelp(
            "The folder in which data access controllers store their data (default: $XDG_STATE_HOME/backplane).",
            valueName: "folder"))
    var data: String?

    func validate() throws {
        if socket != nil, manifest != nil || data != nil {
            throw ValidationError("--socket chooses the store of a running host; leave out --manifest and --data")
        }
    }

    var choice: StoreChoice { StoreChoice(socket: socket, manifest: manifest, data: data) }
}

extension BackplaneTool.Store {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the collections with their record counts and indexes.")

        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws { throw ExitCode(await StoreCommand(choice: store.choice, json: json).list()) }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print one record as JSON.")

        @Argument(help: "The namespace of the data access controller (by default, its class name).")
        var namespace: String
        @Argument(help: "The collection.") var collection: String
        @Argument(help: "The id of the record.") var id: String
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            throw ExitCode(await StoreCommand(choice: store.choice).get(namespace, collection, id))
        }
    }

    struct Dump: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print records as JSON lines, which `restore` reads.",
            discussion: """
                A line with the indexes of each collection comes before a line for each of its records. Each page of \
                500 records is a consistent snapshot. Records whose stored bytes have changed are omitted and named \
                on standard error; the exit code is then 1.
                """)

        @Argument(help: "The namespace (default: all).") var namespace: String?
        @Argument(help: "The collection (default: all of the namespace).") var collection: String?
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            throw ExitCode(await StoreCommand(choice: store.choice).dump(namespace, collection))
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Store the records of a dump.",
            discussion: """
                The indexes of the dump are added to those of the collections. Records are stored in batches of up \
                to 500, each atomically; an error ends the command and names the line that it reached.
                """)

        @Argument(help: "The dump, or - for standard input.") var dump: String
        @Flag(help: "Replace records with the same ids instead of reporting an error.") var overwrite = false
        @OptionGroup var store: StoreChoiceArguments

        func run() async throws {
            throw ExitCode(await StoreCommand(choice: store.choice).restore(dump, overwriting: overwrite))
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the whole store and list every problem, without changing anything.")

        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws { throw ExitCode(await StoreCommand(choice: store.choice, json: json).check()) }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upgrade the store's file to the current format, and count the records of each schema.",
            discussion: """
                A host does the same when it opens the store. Records with an older schema are migrated by their \
                component when it first uses the collection.
                """)

        @Flag(help: "Print what would be done, and change nothing.") var dryRun = false
        @OptionGroup var store: StoreChoiceArguments
        @Flag(help: "Print the result as JSON.") var json = false

        func run() async throws {
            throw ExitCode(await StoreMigration(choice: store.choice, isDryRun: dryRun, json: json).run())
        }
    }
}
#endif
