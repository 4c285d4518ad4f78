#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain which classes were chosen for a manager, or why it cannot be created.",
            usage: "backplane explain [<options>] [<manifest>] <name>",
            discussion: """
                Prints a tree: the plugin and version chosen for the manager and for each of its collaborators, the \
                versions that were rejected, the components that are shared, and the lane of every wire. For a manager \
                that cannot be created, the tree ends with the cause. Nothing is started.

                The first argument is the manifest if it names an existing file, contains a slash, or ends in .json or \
                .plist. Otherwise it is the manager, and the manifest is \(ManifestChoice.text).

                EXAMPLES
                  backplane explain manifests/bookshelf-both.json LibraryManager
                  backplane explain LibraryManager --json
                  backplane explain LibraryManager --running
                """)

        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Argument(help: ArgumentHelp("The manifest (optional) and the manager's name in it.", valueName: "word"))
        var words: [String] = []
        @Flag(help: "Print the reasons as JSON.") var json = false

        func validate() throws { _ = try given() }

        private func given() throws -> ExplainWords {
            try understood { () throws(Misuse) in try ExplainWords(words) }
        }

        func run() async throws {
            let given = try given()
            let (settings, host) = try self.host.settings(given.manifest, running)
            throw ExitCode(
                await ExplainCommand(settings: settings, running: host, manager: given.manager, json: json).run())
        }
    }
}
#endif
