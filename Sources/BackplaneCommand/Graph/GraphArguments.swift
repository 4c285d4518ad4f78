#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Graph: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draws what a manifest comes to: components, wires and the lanes they take.",
            discussion: """
                Managers that cannot be created are in it, each with the first thing that is wrong with it. Native wires are drawn solid, \
                encoded ones dashed. Starts nothing; exit code 1 when the manifest cannot be read.

                EXAMPLES
                  backplane graph manifests/bookshelf-both.json
                  backplane graph --format dot | dot -Tsvg > graph.svg
                  backplane graph --format json
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @Option(help: ArgumentHelp("The language it is written in.", valueName: "format"))
        var format = GraphCommand.Format.mermaid

        func run() async throws {
            throw ExitCode(try await GraphCommand(settings: host.settings(manifest.path), format: format).run())
        }
    }
}

extension GraphCommand.Format: ExpressibleByArgument {}
#endif
