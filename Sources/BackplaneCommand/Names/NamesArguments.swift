#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Names: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a constant for each manager, in Swift, ready to paste.",
            discussion: """
                With them a manager is looked up by its name and its contract at once: `host.manager(.library)`. Managers that provide no \
                contract, or cannot be created, are comments. Starts nothing; exit code 1 when the manifest cannot be read.

                EXAMPLES
                  backplane names manifests/bookshelf.json > Managers.swift
                  backplane names --json
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the names as JSON.") var json = false

        func run() async throws {
            throw ExitCode(try await NamesCommand(settings: host.settings(manifest.path), json: json).run())
        }
    }
}
#endif
