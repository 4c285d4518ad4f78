#if Engines
import ArgumentParser
import BackplaneControl

extension BackplaneTool {
    struct Graph: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Draw the components of a manifest, the wires between them and their lanes.",
            discussion: """
                Managers that cannot be created are included, each with its first problem. Native wires are drawn \
                solid, encoded wires dashed. Nothing is started. The exit code is 1 if the manifest cannot be \
                read.

                With --operations, the graphs of operations that components of a running host run are drawn instead, \
                each node with its state; edges that let a node run after any outcome are dashed. The manifest then \
                chooses the host.

                EXAMPLES
                  backplane graph manifests/bookshelf-both.json
                  backplane graph --format dot | dot -Tsvg > graph.svg
                  backplane graph --format json
                  backplane graph --operations
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Option(help: ArgumentHelp("The output format.", valueName: "format"))
        var format = GraphCommand.Format.mermaid
        @Flag(help: "Draw the graphs of operations of a running host.") var operations = false
        @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
        var socket: String?

        func validate() throws {
            guard operations || socket == nil else { throw ValidationError("--socket requires --operations") }
        }

        func run() async throws {
            if operations {
                let (socket, path) = (socket, try manifest.path)
                let host = try understood { () throws(Misuse) in
                    try HostChoice.given(socket: socket, manifest: path)
                }
                throw ExitCode(OperationGraphCommand(host: host, format: format).run())
            }
            throw ExitCode(try await GraphCommand(settings: host.settings(manifest.path), format: format).run())
        }
    }
}

extension GraphCommand.Format: ExpressibleByArgument {}
#endif
