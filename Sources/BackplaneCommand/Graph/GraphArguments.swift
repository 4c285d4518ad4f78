#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Graph: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draw the components of a manifest, the wires between them and their lanes.",
            discussion: """
                Managers that cannot be created are included, each with its first problem. Native wires are solid \
                lines, encoded wires dashed ones. Nothing is started. The exit code is 1 if the manifest cannot be \
                read.

                EXAMPLES
                  backplane graph manifests/bookshelf-both.json
                  backplane graph --format dot | dot -Tsvg > graph.svg
                  backplane graph --format json
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Option(help: ArgumentHelp("The output format.", valueName: "format"))
        var format = GraphCommand.Format.mermaid

        func run() async throws {
            throw ExitCode(try await GraphCommand(settings: host.settings(manifest.path), format: format).run())
        }
    }
}

extension GraphCommand.Format: ExpressibleByArgument {}
#endif
