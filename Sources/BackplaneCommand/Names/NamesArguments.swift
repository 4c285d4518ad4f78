#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Names: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a Swift constant for each manager, ready to paste.",
            discussion: """
                With such a constant, a program looks up a manager by its name and its contract in one step: \
                `host.manager(.library)`. Managers that provide no contract or cannot be created become comments. \
                Nothing is started. The exit code is 1 if the manifest cannot be read.

                EXAMPLES
                  backplane names manifests/bookshelf.json > Managers.swift
                  backplane names --json
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the names as JSON.") var json = false

        func run() async throws {
            throw ExitCode(try await NamesCommand(settings: host.settings(manifest.path), json: json).run())
        }
    }
}
#endif
