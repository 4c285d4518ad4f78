#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Says why a manager is as it is: the classes that were chosen for it, or what keeps it from being created.",
            usage: "backplane explain [<options>] [<manifest>] <name>",
            discussion: """
                A tree: which version of which plugin was chosen for it and for its layers, what was passed over, what is shared, which lane \
                every wire takes; of one that cannot be created the reasons, down to where they begin. Starts nothing.

                The first word is a manifest if it names a file that is there, has a slash in it, or ends in .json or .plist; otherwise it \
                is the manager, and the manifest is \(ManifestChoice.text).

                EXAMPLES
                  backplane explain manifests/bookshelf-both.json LibraryManager
                  backplane explain LibraryManager --json
                  backplane explain LibraryManager --running
                """)

        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Argument(help: ArgumentHelp("A manifest or none, and the manager's name in it.", valueName: "word")) var words:
            [String] = []
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
